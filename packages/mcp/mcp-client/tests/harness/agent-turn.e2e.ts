/** Whole agent turns: the published loop, sessions, registry and prompt, a scripted model, and real servers. */
import type { ContentBlock, GenerateOptions, ToolResultBlock } from '@deepseek-ai/dsh-llm'
import McpResourceRuntime from '@deepseek-ai/dsh-mcp-resources'
import { images, startHttpFixture } from '@dsh-mcp/fixtures'
import { startAgentHost, type AgentHost, type HostAgent } from '@dsh-mcp/host'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { eventually, fixtureConfig, mount } from '../support.ts'

let host: AgentHost

beforeEach(async () => {
  host = await startAgentHost({ attachments: true })
  onTestFinished(() => host.dispose())
  await host.mount(McpResourceRuntime)
})

/** Everything of a request that a model provider would put before the conversation. */
const prefix = ({ system, tools }: GenerateOptions) => JSON.stringify({ system, tools })

/** The results of tool calls that a request carries, by call id. */
function resultsIn(request: GenerateOptions): Map<string, ToolResultBlock> {
  const blocks: readonly ContentBlock[] = request.messages.flatMap(({ content }) => content)
  return new Map(
    blocks.flatMap((block) => (block.type === 'tool-result' ? [[block.toolCallId, block] as const] : [])),
  )
}

/** The results in the session log, by call id. */
function resultsOf(agent: HostAgent): Map<string, ToolResultBlock> {
  return new Map(
    agent
      .events('tool/result')
      .map(({ data }) => [data.message.content[0].toolCallId, data.message.content[0]]),
  )
}

describe.each(['legacy', 'modern'])('an agent with a %s server', (program) => {
  it('calls two tools in one turn; one fails, one returns an image, and the model sees both', async () => {
    await mount(host, fixtureConfig(program, { instructions: 'Ask {{politely}}.' }, { serverName: 'zoo' }))
    await mount(host, fixtureConfig(program, {}, { serverName: 'aviary' }))
    host.llm.script(
      {
        text: 'let me look',
        calls: [
          { id: 'one', name: 'mcp__zoo__fail', arguments: { message: 'the cage is locked' } },
          { id: 'two', name: 'mcp__aviary__image', arguments: { format: 'png' } },
        ],
      },
      { text: 'here it is' },
    )
    const agent = await host.agent({ model: 'vision' })
    await agent.turn('show me a bird')

    const [first, second] = host.llm.requests
    const names = first!.tools!.map(({ name }) => name)
    expect(names).toEqual(names.toSorted())
    expect(names).toEqual(
      expect.arrayContaining(['mcp__zoo__fail', 'mcp__aviary__image', 'read_mcp_resource']),
    )
    expect(first!.system).toContain('Ask {{politely}}.')
    expect(first!.system).toContain('["aviary","zoo"]')

    expect(agent.events('tool/call').map(({ data }) => [data.callId, data.name, data.arguments])).toEqual([
      ['one', 'mcp__zoo__fail', '{"message":"the cage is locked"}'],
      ['two', 'mcp__aviary__image', '{"format":"png"}'],
    ])
    const logged = resultsOf(agent)
    expect(logged.get('one')).toMatchObject({
      isError: true,
      content: [{ type: 'text', text: expect.stringContaining('the cage is locked') }],
    })
    const image = logged.get('two')!
    expect(image.isError).toBe(false)
    expect(image.content).toMatchObject([
      { type: 'text', text: expect.stringContaining('before') },
      { type: 'image', attachment: { mediaType: 'image/png' } },
      { type: 'text', text: expect.stringContaining('after') },
    ])
    const [, { attachment }] = image.content as [ContentBlock, Extract<ContentBlock, { type: 'image' }>]
    const stored = await host.ctx.attachments.readImage(attachment)
    expect(Buffer.from(stored.data).toString('base64')).toBe(images.png.data)
    expect(JSON.stringify(agent.agent.session.events)).not.toContain(images.png.data)

    expect(Object.fromEntries(resultsIn(second!))).toEqual(Object.fromEntries(logged))
    expect(prefix(second!)).toBe(prefix(first!))
  })

  it('gives the next turn the same definitions, byte for byte, after the server crashed between the two', async () => {
    const options = { instructions: 'Be kind.', pageSize: 7 }
    await mount(host, fixtureConfig(program, options, { serverName: 'zoo' }))
    host.llm.script({ text: 'hello' }, { calls: [{ id: 'one', name: 'mcp__zoo__pid' }] }, { text: 'bye' })
    const agent = await host.agent()
    await agent.turn('hi')

    const pid = host.text(await host.call('mcp__zoo__pid'))
    await host.status('zoo', 'connected', { during: () => host.call('mcp__zoo__crash') })

    await agent.turn('and now')
    const [before, after] = host.llm.requests
    expect(before!.tools!.length).toBeGreaterThan(20)
    expect(prefix(after!)).toBe(prefix(before!))
    const result = resultsOf(agent).get('one')!
    expect(result).toMatchObject({ isError: false })
    expect(host.text(result)).not.toBe(pid)
  })

  it('tells the model why a call failed when the server is down during the turn', async () => {
    const config = fixtureConfig(program, {}, { serverName: 'zoo', reconnect: { enabled: false } })
    await mount(host, config)
    host.llm.script(
      {
        calls: [
          { id: 'one', name: 'mcp__zoo__crash' },
          { id: 'two', name: 'mcp__zoo__echo', arguments: { message: 'x' } },
        ],
      },
      { text: 'I see' },
    )
    const agent = await host.agent()
    await agent.turn('go')
    const results = resultsIn(host.llm.requests[1]!)
    expect(results.get('one')).toMatchObject({ isError: true })
    expect(results.get('two')).toMatchObject({ isError: true })
    expect(host.text(results.get('one')!)).toMatch(/lost|exited/)
    expect(prefix(host.llm.requests[1]!)).toBe(prefix(host.llm.requests[0]!))
  })
})

describe.each(['legacy', 'modern'] as const)('a cancelled turn with a %s server', (era) => {
  it('cancels the call at the server, and says so in the log', async () => {
    await using fixture = await startHttpFixture({ era })
    await mount(host, { serverName: 'zoo', transport: 'streamable-http', url: fixture.url })
    host.llm.script({ calls: [{ id: 'one', name: 'mcp__zoo__hold' }] })
    const agent = await host.agent()
    agent.submit('wait for me')
    await eventually(() => expect(fixture.toolbox.holding).toBe(1))

    agent.agent.cancel({ kind: 'user' })
    await agent.agent.whenIdle()
    await eventually(() => expect(fixture.toolbox.cancellations.map(({ name }) => name)).toEqual(['hold']))
    expect(fixture.toolbox.holding).toBe(0)
    expect(resultsOf(agent).get('one')).toMatchObject({ isError: true })
    expect(host.llm.requests).toHaveLength(1)

    // The connection is as it was: the next turn uses it.
    host.llm.script({ calls: [{ id: 'two', name: 'mcp__zoo__echo', arguments: { message: 'still here' } }] })
    await agent.turn('again')
    expect(host.text(resultsOf(agent).get('two')!)).toBe('still here')
  })
})
