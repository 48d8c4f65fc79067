/** The service under real agents: the published loop, sessions and registry, with a scripted model. */
import { randomUUID } from 'node:crypto'
import type { Context } from '@deepseek-ai/cordis'
import AgentRegistry from '@deepseek-ai/dsh-agent'
import type { Agent } from '@deepseek-ai/dsh-agent'
import AgentLoop from '@deepseek-ai/dsh-agent-loop'
import { createUserMessage } from '@deepseek-ai/dsh-llm'
import SessionStore, { SessionId } from '@deepseek-ai/dsh-session'
import { SCRIPTED_PROVIDER, startHost } from '@dsh-mcp/host'
import type { HostOptions, TestHost } from '@dsh-mcp/host'
import { describe, expect, it } from 'vitest'
import McpResourceRuntime from '../src/index.ts'
import { FixedProvider, mountServer, read, TOOLS } from './support.ts'

async function hostWithAgents(options: HostOptions = {}): Promise<TestHost> {
  const host = await startHost({ ...options, llm: { model: undefined } })
  await host.mount(SessionStore)
  await host.mount(AgentRegistry)
  await host.mount(AgentLoop, {})
  await host.mount(McpResourceRuntime)
  return host
}

async function createAgent(
  host: TestHost,
  setup: (ctx: Context) => Promise<void> = async () => {},
): Promise<Agent> {
  const { agent } = await host.ctx.agents.create({
    sessionId: SessionId(randomUUID()),
    agentOptions: { provider: SCRIPTED_PROVIDER, model: 'model' },
    setup,
  })
  return agent
}

async function turn(agent: Agent): Promise<void> {
  agent.followup(createUserMessage({ content: [{ type: 'text', text: 'go' }], source: { kind: 'user' } }))
  await agent.whenIdle()
}

const provider = () =>
  new FixedProvider((request) =>
    request.method === 'resources/read'
      ? read({ uri: request.uri, text: 'hello' }, { uri: 'a:blob', blob: 'TWFu' })
      : { resources: [{ uri: 'a:b', name: 'b' }] },
  )

describe('an agent', () => {
  it('reads what the servers of its own scope offer, and another agent does not know of them', async () => {
    await using host = await hostWithAgents()
    const docs = provider()
    const reader = await createAgent(host, async (ctx) => void (await mountServer(host, 'docs', docs, ctx)))
    const other = await createAgent(host)
    host.llm!.script({
      calls: [
        { name: 'list_mcp_resources', arguments: { server: 'docs' } },
        { name: 'read_mcp_resource', arguments: { server: 'docs', uri: 'a:b' } },
      ],
    })
    await turn(reader)
    await turn(other)

    const [first, second, ofOther] = host.llm!.requests
    expect(first!.tools!.map(({ name }) => name)).toEqual(TOOLS.toSorted())
    expect(JSON.stringify(first!.messages)).not.toContain('hello')
    expect(JSON.stringify(first)).toContain('MCP servers with resources: [\\"docs\\"]')
    expect(JSON.stringify(second!.messages)).toContain('[content 1: a:b]\\nhello')
    expect(JSON.stringify(second!.messages)).toContain('[unknown type, 3 bytes of binary data, not shown]')
    expect(JSON.stringify(second!.messages)).not.toContain('TWFu')
    expect(JSON.stringify(reader.session.events)).not.toContain('TWFu')
    expect(docs.executions.map(({ agent }) => agent)).toEqual([reader, reader])

    expect(ofOther!.tools ?? []).toEqual([])
    expect(JSON.stringify(ofOther)).not.toMatch(/mcp/i)
  })

  it('gets the whole JSON in a program of code mode', async () => {
    await using host = await hostWithAgents({ mode: 'code' })
    const docs = provider()
    const agent = await createAgent(host, async (ctx) => void (await mountServer(host, 'docs', docs, ctx)))
    const code = `
      const { resources } = await tools.list_mcp_resources({ server: 'docs' })
      const { contents } = await tools.read_mcp_resource({ server: 'docs', uri: resources[0].uri })
      return contents[1].blob`
    host.llm!.script({ calls: [{ name: 'run_code', arguments: { code, description: 'read' } }] })
    await turn(agent)
    const [first, second] = host.llm!.requests
    expect(first!.tools!.map(({ name }) => name)).toEqual(['run_code'])
    expect(JSON.stringify(second!.messages)).toContain('TWFu')
    expect(docs.requests).toEqual([{ method: 'resources/list' }, { method: 'resources/read', uri: 'a:b' }])
    expect(docs.executions.map((exec) => exec.agent)).toEqual([agent, agent])
  })
})
