/** The service under real agents: the published loop, sessions and registry, with a scripted model. */
import type { Context } from '@deepseek-ai/cordis'
import { startAgentHost } from '@dsh-mcp/host'
import type { AgentHost, AgentHostOptions } from '@dsh-mcp/host'
import { describe, expect, it } from 'vitest'
import McpResourceRuntime from '../src/index.ts'
import { FixedProvider, mountServer, read, TOOLS } from './support.ts'

async function hostWithService(options: AgentHostOptions = {}): Promise<AgentHost> {
  const host = await startAgentHost(options)
  await host.mount(McpResourceRuntime)
  return host
}

const answers = (request: { method: string }) =>
  request.method === 'resources/read'
    ? read({ uri: 'a:b', text: 'hello' }, { uri: 'a:blob', blob: 'TWFu' })
    : { resources: [{ uri: 'a:b', name: 'b' }] }

describe('an agent', () => {
  it('reads what the servers of its own scope offer, and another agent does not know of them', async () => {
    await using host = await hostWithService()
    const docs = new FixedProvider(answers)
    const setup = async (ctx: Context) => void (await mountServer(host, 'docs', docs, ctx))
    const reader = await host.agent({ setup })
    const other = await host.agent()
    host.llm.script({
      calls: [
        { name: 'list_mcp_resources', arguments: { server: 'docs' } },
        { name: 'read_mcp_resource', arguments: { server: 'docs', uri: 'a:b' } },
      ],
    })
    await reader.turn('read')
    await other.turn('read')

    const [first, second, ofOther] = host.llm.requests
    expect(first!.tools!.map(({ name }) => name)).toEqual(TOOLS.toSorted())
    expect(JSON.stringify(first)).toContain('MCP servers: [\\"docs\\"]')
    expect(JSON.stringify(second!.messages)).toContain('[content 1: a:b]\\nhello')
    expect(JSON.stringify(second!.messages)).toContain('[unknown type, 3 bytes of binary data, not shown]')
    expect(JSON.stringify(reader.agent.session.events)).not.toContain('TWFu')
    expect(docs.executions.map(({ agent }) => agent)).toEqual([reader.agent, reader.agent])

    expect(ofOther!.tools ?? []).toEqual([])
    expect(JSON.stringify(ofOther)).not.toMatch(/mcp/i)

    await reader.dispose()
    expect(host.ctx.mcpResources.servers(reader.agent)).toEqual([])
  })

  it('has its calls of one step run side by side', async () => {
    await using host = await hostWithService()
    const both = Promise.withResolvers<void>()
    const docs = new FixedProvider(async (request) => {
      if (docs.requests.length === 2) both.resolve()
      await both.promise
      return answers(request)
    })
    await mountServer(host, 'docs', docs)
    const reader = await host.agent()
    host.llm.script({
      calls: [
        { name: 'read_mcp_resource', arguments: { server: 'docs', uri: 'a:b' } },
        { name: 'list_mcp_resources', arguments: { server: 'docs' } },
      ],
    })
    await reader.turn('read')
    expect(reader.events('tool/result')).toHaveLength(2)
    expect(docs.requests).toEqual([{ method: 'resources/read', uri: 'a:b' }, { method: 'resources/list' }])
  })

  it('gets the whole JSON in a program of code mode', async () => {
    await using host = await hostWithService({ mode: 'code' })
    const docs = new FixedProvider(answers)
    const setup = async (ctx: Context) => void (await mountServer(host, 'docs', docs, ctx))
    const programmer = await host.agent({ setup })
    const code = `
      const { resources } = await tools.list_mcp_resources({ server: 'docs' })
      const { contents } = await tools.read_mcp_resource({ server: 'docs', uri: resources[0].uri })
      return contents[1].blob`
    host.llm.script({ calls: [{ name: 'run_code', arguments: { code, description: 'read' } }] })
    await programmer.turn('read')
    const [first, second] = host.llm.requests
    expect(first!.tools!.map(({ name }) => name)).toEqual(['run_code'])
    expect(JSON.stringify(second!.messages)).toContain('TWFu')
    expect(docs.requests).toEqual([{ method: 'resources/list' }, { method: 'resources/read', uri: 'a:b' }])
    expect(docs.executions.map((exec) => exec.agent)).toEqual([programmer.agent, programmer.agent])
  })
})
