/** The host's own approval and restriction hooks apply to MCP tools by the shape of their names. */
import { startHttpFixture, type HttpFixture } from '@dsh-mcp/fixtures'
import { startAgentHost, type AgentHost, type HostAgent } from '@dsh-mcp/host'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { mount } from '../support.ts'

const echo = (server: string, message: string) => ({ name: `mcp__${server}__echo`, arguments: { message } })

let host: AgentHost
let servers: Record<'github' | 'web', HttpFixture>

beforeEach(async () => {
  host = await startAgentHost({ approval: true })
  servers = {
    github: await startHttpFixture({ era: 'modern' }),
    web: await startHttpFixture({ era: 'legacy' }),
  }
  onTestFinished(async () => {
    await host.dispose()
    await Promise.all(Object.values(servers).map((server) => server.stop()))
  })
  for (const [serverName, { url }] of Object.entries(servers)) {
    await mount(host, { serverName, transport: 'streamable-http', url })
  }
})

/** Run a turn that calls echo on both servers, and say what became of the two calls. */
async function bothServers(agent: HostAgent): Promise<Record<string, string>> {
  host.llm.script({ calls: [echo('github', 'from github'), echo('web', 'from web')] }, { text: 'done' })
  await agent.turn('go')
  const names = agent.events('tool/call').map(({ data }) => data.name)
  const results = agent.events('tool/result').map(({ data }) => data.message.content[0])
  return Object.fromEntries(
    results.map((result, index) => [names[index]!, `${result.isError ? 'error: ' : ''}${host.text(result)}`]),
  )
}

/** Which servers were reached by a tool call. */
const reached = () =>
  Object.entries(servers).flatMap(([name, { toolbox }]) => (toolbox.calls.length > 0 ? [name] : []))

describe('tools/pre-execute', () => {
  it('denies the calls of one server by mcp__github__*, before anything is sent', async () => {
    host.ctx.on('tools/pre-execute', async (exec, next) =>
      exec.name.startsWith('mcp__github__') ? { kind: 'deny', reason: 'no GitHub here' } : await next(),
    )
    expect(await bothServers(await host.agent())).toEqual({
      mcp__github__echo: expect.stringMatching(/^error: .*no GitHub here/),
      mcp__web__echo: 'from web',
    })
    expect(reached()).toEqual(['web'])
  })

  it('asks for every MCP tool by mcp__*, and each answer counts for one call', async () => {
    host.ctx.on('tools/pre-execute', async (exec, next) =>
      exec.name.startsWith('mcp__') ? { kind: 'ask', reason: 'it leaves this machine' } : await next(),
    )
    host.ctx.on('approval/request', async ({ toolName }) =>
      toolName === 'mcp__web__echo' ? 'allowed-once' : 'rejected',
    )
    const agent = await host.agent()
    const outcome = await bothServers(agent)
    expect(outcome['mcp__web__echo']).toBe('from web')
    expect(outcome['mcp__github__echo']).toMatch(/^error: /)
    expect(reached()).toEqual(['web'])
    expect(agent.events('approval/asked').map(({ data }) => [data.toolName, data.reason])).toEqual([
      ['mcp__github__echo', 'it leaves this machine'],
      ['mcp__web__echo', 'it leaves this machine'],
    ])
    expect(agent.events('approval/decided').map(({ data }) => data.outcome)).toEqual([
      'rejected',
      'allowed-once',
    ])
  })

  it('refuses what would have to be asked when nobody answers', async () => {
    host.ctx.on('tools/pre-execute', async (exec, next) =>
      exec.name.startsWith('mcp__') ? { kind: 'ask' } : await next(),
    )
    expect(Object.values(await bothServers(await host.agent()))).toEqual([
      expect.stringMatching(/^error: /),
      expect.stringMatching(/^error: /),
    ])
    expect(reached()).toEqual([])
  })
})

describe('guard', () => {
  it('denies by name for one agent, whatever the policies before it say', async () => {
    const guarded = await host.agent({
      setup: (ctx) =>
        void ctx.tools.guard(({ name }) =>
          /^mcp__(?!web__)/.test(name) ? 'only the web server' : undefined,
        ),
    })
    host.ctx.on('tools/pre-execute', async () => ({ kind: 'allow' }))
    expect(await bothServers(guarded)).toEqual({
      mcp__github__echo: expect.stringMatching(/^error: .*only the web server/),
      mcp__web__echo: 'from web',
    })
    expect(await bothServers(await host.agent())).toEqual({
      mcp__github__echo: 'from github',
      mcp__web__echo: 'from web',
    })
  })
})

describe('restrict', () => {
  const mcpNames = (server = '') => host.toolNames().filter((name) => name.startsWith(`mcp__${server}`))

  it('hides the tools of one server from one agent, and refuses a call to them', async () => {
    const agent = await host.agent({
      setup: (ctx) => void ctx.tools.restrict({ deny: mcpNames('github__') }),
    })
    const outcome = await bothServers(agent)
    expect(host.llm.requests[0]!.tools!.map(({ name }) => name)).toEqual(mcpNames('web__').toSorted())
    expect(outcome['mcp__github__echo']).toMatch(/^error: .*unknown tool/)
    expect(reached()).toEqual(['web'])
  })

  it('stays in force over a reconnection, because the names stay', async () => {
    const denied = mcpNames('github__')
    const agent = await host.agent({ setup: (ctx) => void ctx.tools.restrict({ deny: denied }) })
    const restart = async () => {
      await servers.github.restart()
      await host.call('mcp__github__echo', { message: 'notices it' })
    }
    await host.status('github', 'connected', { during: restart })
    expect(mcpNames('github__')).toEqual(denied)
    expect(host.toolNames(agent.agent).filter((name) => name.startsWith('mcp__github__'))).toEqual([])
  })

  it('an allow list keeps tools out that a server adds later', async () => {
    const agent = await host.agent({
      setup: (ctx) => void ctx.tools.restrict({ allow: ['mcp__github__echo'] }),
    })
    servers.github.setTools({ add: [{ name: 'later', inputSchema: { type: 'object' } }] })
    await host.status('github', ({ toolCount }) => toolCount > mcpNames('web__').length)
    expect(host.toolNames()).toContain('mcp__github__later')
    expect(host.toolNames(agent.agent)).toEqual(['mcp__github__echo'])
  })
})
