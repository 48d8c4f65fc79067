/** Adapted tools as programs see them, in the real code runtime. */
import type { ToolExecutionResult } from '@deepseek-ai/dsh-tools'
import { images, png } from '@dsh-mcp/fixtures'
import { startAgentHost } from '@dsh-mcp/host'
import { expect, it, onTestFinished } from 'vitest'
import { createMcpToolDefinition, type McpToolOptions } from '../../src/index.ts'

const text = (written: string) => ({ type: 'text', text: written })
const image = { type: 'image', ...images.png }

async function programs(result: unknown, options: Partial<McpToolOptions> = {}) {
  const app = await startAgentHost({ mode: 'code', attachments: true })
  onTestFinished(() => app.dispose())
  app.ctx.tools.register(
    createMcpToolDefinition(app.ctx, {
      name: 'tool',
      inputSchema: { type: 'object' },
      call: async () => result,
      ...options,
    }),
  )
  const caller = await app.agent({ model: 'vision' })
  const run = async (code: string): Promise<ToolExecutionResult> =>
    await app.call('run_code', { code, description: 'Runs a test program' }, { agent: caller.agent })
  return { ...app, run, caller, prompt: async () => (await app.prompt(caller.agent)).text }
}

it('a program gets the whole value, typed by the schemas', async () => {
  const outputSchema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
  const raw = { content: [text('Ulm'), image], structuredContent: { city: 'Ulm' } }
  const { prompt, run } = await programs(raw, { outputSchema })
  const declared = await prompt()
  expect(declared).toMatch(/structuredContent: \{\s*city: string;?/)
  expect(declared).toMatch(/content: \{?\s*/)
  const result = await run(
    'const r = await tools.tool({}); return [r.structuredContent.city, r.content[1].data]',
  )
  expect(result).toMatchObject({ isError: false, value: { result: ['Ulm', png] } })
})

it('a program gets an error that it can catch', async () => {
  const { run } = await programs({ content: [text('no luck')], isError: true })
  const result = await run(
    'try { await tools.tool({}) } catch (e) { return [e.name, e.toolName, e.message] }',
  )
  expect(result).toMatchObject({ value: { result: ['ToolCallError', 'tool', 'no luck'] } })
})

it('an image that a program got stands in the conversation after the program, and no base64 in the session', async () => {
  const { run, caller } = await programs({ content: [text('look'), image] })
  const result = await run('await tools.tool({})')
  expect(result).toMatchObject({
    isError: false,
    additionalContexts: [
      { content: [text('look'), { type: 'image', attachment: { mediaType: 'image/png' } }] },
    ],
  })
  expect(caller.events('tool/code-dispatch')).toHaveLength(1)
  expect(JSON.stringify(caller.agent.session.events)).not.toContain(png)
})
