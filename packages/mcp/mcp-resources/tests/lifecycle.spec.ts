import type { Fiber } from '@deepseek-ai/cordis'
import { createScope } from '@deepseek-ai/dsh-scope'
import ToolRuntime from '@deepseek-ai/dsh-tools'
import { startHost } from '@dsh-mcp/host'
import type { TestHost } from '@dsh-mcp/host'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import McpResourceRuntime from '../src/index.ts'
import { FixedProvider, mountServer, resourcesOf, TOOLS } from './support.ts'

const permutations = <T>(items: readonly T[]): T[][] =>
  items.length < 2
    ? [[...items]]
    : items.flatMap((item) =>
        permutations(items.filter((other) => other !== item)).map((rest) => [item, ...rest]),
      )

/** Mounts one of three parts by its name: the service, or the server that the name is. */
const mountPart = async (host: TestHost, part: string): Promise<Fiber> =>
  part === 'service' ? await host.mount(McpResourceRuntime) : await mountServer(host, part)

const PARTS = ['service', 'one', 'two']

describe('the shared tools', () => {
  it.each(
    permutations(PARTS).flatMap((mounting) =>
      permutations(PARTS).map((unloading) => ({ mounting, unloading })),
    ),
  )('are there exactly while the service and a server are: $mounting, then $unloading', async (order) => {
    await using host = await startHost()
    const fibers = new Map<string, Fiber>()
    const expected = () => (fibers.has('service') && fibers.size > 1 ? TOOLS : [])
    for (const part of order.mounting) {
      fibers.set(part, await mountPart(host, part))
      await settled(fibers)
      expect(host.toolNames()).toEqual(expected())
    }
    expect(host.ctx.mcpResources.servers()).toEqual(['one', 'two'])
    for (const part of order.unloading) {
      await fibers.get(part)!.dispose()
      fibers.delete(part)
      await settled(fibers)
      expect(host.toolNames()).toEqual(expected())
    }
  })

  it('keep their registration when the first of two servers leaves', async () => {
    await using host = await startHost()
    await host.mount(McpResourceRuntime)
    const first = await mountServer(host, 'one')
    await mountServer(host, 'two')
    const changes = host.toolChanges
    const tools = TOOLS.map((name) => host.ctx.tools.get(name))
    await first.dispose()
    expect(host.toolChanges).toBe(changes)
    expect(TOOLS.map((name) => host.ctx.tools.get(name))).toEqual(tools)
    expect(await host.call('list_mcp_resources', { server: 'two' })).toMatchObject({ value: { from: 'two' } })
    expect(host.text(await host.call('list_mcp_resources', { server: 'one' }))).toContain(
      'unknown MCP server "one"',
    )
  })

  it('go in the same tick as the last server', async () => {
    await using host = await startHost()
    await host.mount(McpResourceRuntime)
    const agent = host.scope('agent')
    const leave = [
      host.ctx.mcpResources.register('docs', new FixedProvider()),
      resourcesOf(agent.ctx).register('docs', new FixedProvider()),
    ]
    leave[0]!()
    expect([host.toolNames(), host.toolNames(agent.key)]).toEqual([[], TOOLS])
    leave[1]!()
    expect([host.toolNames(), host.toolNames(agent.key)]).toEqual([[], []])
  })

  it('follow every sequence of servers that come and go in three scopes', async () => {
    await using host = await startHost()
    await host.mount(McpResourceRuntime)
    const preset = host.scope('preset')
    const agent = host.scope('agent', preset.key)
    const scopes = [
      { ctx: host.ctx, key: undefined, sees: [0] },
      { ctx: preset.ctx, key: preset.key, sees: [0, 1] },
      { ctx: agent.ctx, key: agent.key, sees: [0, 1, 2] },
    ]
    const step = fc.record({ scope: fc.nat({ max: 2 }), server: fc.constantFrom('a', 'b', 'c') })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (sequence) => {
        const live = scopes.map(() => new Map<string, () => void>())
        const toggle = ({ scope, server }: { scope: number; server: string }) => {
          const leave = live[scope]!.get(server)
          if (leave === undefined) {
            live[scope]!.set(server, resourcesOf(scopes[scope]!.ctx).register(server, new FixedProvider()))
          } else {
            leave()
            live[scope]!.delete(server)
          }
        }
        const check = () => {
          for (const { key, sees } of scopes) {
            const names = new Set(sees.flatMap((index) => [...live[index]!.keys()]))
            expect(host.ctx.mcpResources.servers(key)).toEqual([...names].toSorted())
            expect(host.toolNames(key)).toEqual(names.size > 0 ? TOOLS : [])
          }
        }
        for (const each of sequence) {
          toggle(each)
          check()
        }
        for (const servers of live) for (const leave of servers.values()) leave()
        live.forEach((servers) => servers.clear())
        check()
      }),
      { numRuns: 50 },
    )
  })

  it('come back when the tool registry is replaced', async () => {
    await using host = await startHost()
    await host.mount(McpResourceRuntime)
    // Not of the host's scopes, which go with the registry that they inject.
    const key = {}
    const agent = createScope(host.ctx, key)
    await mountServer(host, 'docs')
    await mountServer(host, 'own', undefined, agent.ctx)
    const [tools] = [...host.ctx.registry.get(ToolRuntime)!.fibers]
    await tools!.restart()
    await vi.waitFor(() => expect(host.ctx.mcpResources.servers(key)).toEqual(['docs', 'own']))
    expect(host.toolNames()).toEqual(TOOLS)
    expect(host.toolNames(key)).toEqual(TOOLS)
  })

  it('leave nothing in any scope when the service is unloaded under its servers', async () => {
    await using host = await startHost()
    const agent = host.scope('agent')
    const service = await host.mount(McpResourceRuntime)
    // These servers hold on to the service instead of asking to be unloaded with it.
    const leave = host.ctx.mcpResources.register('docs', new FixedProvider())
    const leaveAgent = resourcesOf(agent.ctx).register('own', new FixedProvider())
    await service.dispose()
    expect([host.toolNames(), host.toolNames(agent.key)]).toEqual([[], []])
    expect((await host.prompt(agent.key)).text).toBe('')

    await host.mount(McpResourceRuntime)
    await mountServer(host, 'docs')
    leave()
    leaveAgent()
    expect([host.toolNames(), host.toolNames(agent.key)]).toEqual([TOOLS, TOOLS])
    expect(host.ctx.mcpResources.servers(agent.key)).toEqual(['docs'])
  })

  it('are not registered by a service that is going down', async () => {
    await using host = await startHost()
    const service = await host.mount(McpResourceRuntime)
    const agent = host.scope('agent')
    const { mcpResources } = host.ctx
    const ofAgent = resourcesOf(agent.ctx)
    const gone = service.dispose()
    expect(() => mcpResources.register('docs', new FixedProvider())).toThrow('no tools for MCP server "docs"')
    expect(() => ofAgent.register('docs', new FixedProvider())).toThrow('no tools for MCP server "docs"')
    await gone
    expect([host.toolNames(), host.toolNames(agent.key)]).toEqual([[], []])
  })

  it('hold nothing after a hundred lives', async () => {
    await using host = await startHost()
    await host.mount(McpResourceRuntime)
    const agent = host.scope('agent')
    const fibers = () =>
      [...host.ctx.registry.values()].reduce((sum, runtime) => sum + runtime.fibers.length, 0)
    const effects = () => [...host.ctx.registry.get(McpResourceRuntime)!.fibers][0]!.getEffects().length
    const before = [fibers(), effects()]
    for (let life = 0; life < 100; life++) {
      const leave = resourcesOf(agent.ctx).register('docs', new FixedProvider())
      leave()
    }
    await new Promise(setImmediate)
    expect([fibers(), effects()]).toEqual(before)
    expect(host.logText()).toBe('')
  })
})

/** Waits until no fiber is on its way up or down. */
async function settled(fibers: ReadonlyMap<unknown, Fiber>): Promise<void> {
  await Promise.all(Array.from(fibers.values(), async (fiber) => await fiber.await()))
}
