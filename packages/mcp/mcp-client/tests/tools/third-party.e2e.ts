/** The example of a provider without an MCP connection, in a real host. */
import { startAgentHost } from '@dsh-mcp/host'
import { expect, it, onTestFinished } from 'vitest'
import * as palette from '../../../../../examples/third-party-provider/src/index.ts'

it('the example provider registers one tool, whose results are like those of every MCP server', async () => {
  const app = await startAgentHost({ attachments: true })
  onTestFinished(() => app.dispose())
  const fiber = await app.mount(palette)
  expect(app.toolNames()).toEqual(['palette__swatch'])
  const seeing = await app.agent({ model: 'vision' })

  app.llm.script({ calls: [{ name: 'palette__swatch', arguments: { color: '#1e90ff' } }] }, { text: 'blue' })
  await seeing.turn('which color is that?')
  const [result] = seeing.events('tool/result')
  expect(JSON.stringify(result)).toContain('red 30, green 144, blue 255')
  expect(JSON.stringify(app.llm.requests.at(-1))).toContain('sha256:')

  const blind = await app.call('palette__swatch', { color: '#1e90ff' })
  expect(blind).toMatchObject({ value: { structuredContent: { red: 30, green: 144, blue: 255 } } })
  expect(app.text(blind)).toContain('[image not shown: image/png,')
  expect(await app.call('palette__swatch', { color: 'blue' })).toMatchObject({
    isError: true,
    error: { message: 'blue is not a color like #1e90ff.', info: { code: 'MCP_TOOL_ERROR' } },
  })

  await fiber.dispose()
  expect(app.toolNames()).toEqual([])
})
