import { Context } from '@deepseek-ai/cordis'
import { startHost } from '@dsh-mcp/host'
import { describe, expect, it } from 'vitest'
import * as entry from '@deepseek-ai/dsh-mcp-resources'
import McpResourceRuntime from '../src/index.ts'
import { FixedProvider, mountServer, resourcesOf, TOOLS } from './support.ts'

describe('the service', () => {
  it('is what a loader finds in the package', () => {
    expect(entry.default).toBe(McpResourceRuntime)
    expect(entry.McpResourceRuntime).toBe(McpResourceRuntime)
  })

  it('waits for the tool registry', async () => {
    const ctx = new Context()
    const fiber = ctx.plugin(McpResourceRuntime)
    await Promise.resolve(fiber)
    expect(ctx.get('mcpResources')).toBeUndefined()
    await fiber.dispose()
  })

  it.each([undefined, null, {}])('accepts an entry with config %j', async (config) => {
    await using host = await startHost()
    await host.mount(McpResourceRuntime, config)
    expect(host.ctx.mcpResources.servers()).toEqual([])
  })

  it.each([
    [{ servers: ['a'], x: 1 }, '"servers", "x"'],
    ['text', 'a value'],
  ])('refuses config %j', async (config, what) => {
    await using host = await startHost()
    await expect(host.mount(McpResourceRuntime, config)).rejects.toThrow(
      `mcp-resources: there is nothing to configure here, but the entry's config has ${what}: remove it`,
    )
    expect(host.ctx.get('mcpResources')).toBeUndefined()
  })
})

describe('register', () => {
  it.each(['a', 'A-z_09', 'x'.repeat(32)])('takes the name %s', async (server) => {
    await using host = await startHost()
    await host.mount(McpResourceRuntime)
    host.ctx.mcpResources.register(server, new FixedProvider())
    expect(host.ctx.mcpResources.servers()).toEqual([server])
  })

  it.each([
    ['', '""'],
    [undefined, 'of type undefined'],
    ['a b', '"a b"'],
    ['{{x}}', '"{{x}}"'],
    ['x'.repeat(33), `"${'x'.repeat(33)}"`],
    ['a\n', String.raw`"a\n"`],
  ])('refuses the name %j', async (server, shown) => {
    await using host = await startHost()
    await host.mount(McpResourceRuntime)
    expect(() => host.ctx.mcpResources.register(server as string, new FixedProvider())).toThrow(
      `mcp-resources: invalid server name ${shown}: use 1 to 32 letters, digits, "_" or "-"`,
    )
    expect(host.toolNames()).toEqual([])
  })

  it('refuses a second provider under one name until the first is gone', async () => {
    await using host = await startHost()
    await host.mount(McpResourceRuntime)
    const first = await mountServer(host, 'docs', new FixedProvider('first'))
    await expect(mountServer(host, 'docs')).rejects.toThrow(
      'an MCP server named "docs" already offers its resources in this scope: give one of the two another serverName',
    )
    expect(await host.call('list_mcp_resources', { server: 'docs' })).toMatchObject({ value: 'first' })

    await first.dispose()
    await mountServer(host, 'docs', new FixedProvider('second'))
    expect(await host.call('list_mcp_resources', { server: 'docs' })).toMatchObject({ value: 'second' })
  })

  it('refuses a second provider within an agent scope too', async () => {
    await using host = await startHost()
    await host.mount(McpResourceRuntime)
    const agent = host.scope('agent')
    resourcesOf(agent.ctx).register('docs', new FixedProvider())
    expect(() => resourcesOf(agent.ctx).register('docs', new FixedProvider())).toThrow('already offers')
    expect(host.toolNames(agent.key)).toEqual(TOOLS)
  })

  it('returns the disposer of exactly that registration', async () => {
    await using host = await startHost()
    await host.mount(McpResourceRuntime)
    const { mcpResources } = host.ctx
    const removeFirst = mcpResources.register('a', new FixedProvider())
    mcpResources.register('b', new FixedProvider())
    removeFirst()
    expect(mcpResources.servers()).toEqual(['b'])
    mcpResources.register('a', new FixedProvider())
    removeFirst()
    expect(mcpResources.servers()).toEqual(['a', 'b'])
  })

  it.each(TOOLS)('changes nothing when another plugin owns %s', async (name) => {
    await using host = await startHost()
    await host.mount(McpResourceRuntime)
    const [foreign] = await borrowTools(TOOLS.indexOf(name))
    const unregister = host.ctx.tools.register(foreign!)
    expect(() => host.ctx.mcpResources.register('docs', new FixedProvider())).toThrow(
      `mcp-resources: no tools for MCP server "docs": tool "${name}" is already registered`,
    )
    expect(host.toolNames()).toEqual([name])
    expect(host.ctx.tools.get(name)).toBe(foreign)
    expect(host.ctx.mcpResources.servers()).toEqual([])

    unregister()
    host.ctx.mcpResources.register('docs', new FixedProvider())
    expect(host.toolNames()).toEqual(TOOLS)
  })

  it('changes nothing when another plugin owns a name in that agent scope', async () => {
    await using host = await startHost()
    await host.mount(McpResourceRuntime)
    const agent = host.scope('agent')
    const [foreign] = await borrowTools(1)
    agent.ctx.get('tools')!.register(foreign!)
    expect(() => resourcesOf(agent.ctx).register('docs', new FixedProvider())).toThrow(
      'mcp-resources: no tools for MCP server "docs": tool "list_mcp_resource_templates" is already registered in this scope',
    )
    expect(host.toolNames(agent.key)).toEqual(['list_mcp_resource_templates'])
    host.ctx.mcpResources.register('docs', new FixedProvider())
    expect(host.toolNames()).toEqual(TOOLS)
  })
})

describe('a failing observer of the tool registry', () => {
  it.each([1, 2, 3])('leaves nothing behind when it throws at change %i', async (fatal) => {
    await using host = await startHost()
    await host.mount(McpResourceRuntime)
    const agent = host.scope('agent')
    for (const ctx of [host.ctx, agent.ctx]) {
      let changes = 0
      const unlisten = host.ctx.on('tools/change', () => {
        changes += 1
        if (changes === fatal) throw new Error('no')
      })
      expect(() => resourcesOf(ctx).register('docs', new FixedProvider())).toThrow(
        'mcp-resources: no tools for MCP server "docs": no',
      )
      unlisten()
    }
    expect([host.toolNames(), host.toolNames(agent.key)]).toEqual([[], []])
    expect(host.ctx.mcpResources.servers(agent.key)).toEqual([])
    resourcesOf(agent.ctx).register('docs', new FixedProvider())
    expect(host.toolNames(agent.key)).toEqual(TOOLS)
  })

  it('does not keep the tools when the last server leaves', async () => {
    await using host = await startHost()
    await host.mount(McpResourceRuntime)
    const agent = host.scope('agent')
    const leave = [host.ctx, agent.ctx].map((ctx) => resourcesOf(ctx).register('docs', new FixedProvider()))
    const unlisten = host.ctx.on('tools/change', () => {
      throw new Error('this observer fails')
    })
    for (const dispose of leave) dispose()
    unlisten()
    expect([host.toolNames(), host.toolNames(agent.key)]).toEqual([[], []])
    expect(host.logs.find({ level: 'error', text: 'this observer fails' })).toHaveLength(6)
    resourcesOf(agent.ctx).register('docs', new FixedProvider())
    expect(host.toolNames(agent.key)).toEqual(TOOLS)
  })
})

describe('scopes', () => {
  it('keep a server of one agent from another', async () => {
    await using host = await startHost()
    await host.mount(McpResourceRuntime)
    const mine = host.scope('mine')
    const other = host.scope('other')
    const provider = new FixedProvider()
    await mountServer(host, 'private', provider, mine.ctx)

    expect(host.toolNames(mine.key)).toEqual(TOOLS)
    expect(host.toolNames(other.key)).toEqual([])
    expect(host.toolNames()).toEqual([])
    expect(host.ctx.mcpResources.servers(mine.key)).toEqual(['private'])
    expect(host.ctx.mcpResources.servers(other.key)).toEqual([])

    await mountServer(host, 'shared')
    const refused = await host.call(
      'read_mcp_resource',
      { server: 'private', uri: 'a:b' },
      { agent: other.key },
    )
    expect(host.text(refused)).toBe('Error: unknown MCP server "private"; servers to choose from: ["shared"]')
    expect(provider.requests).toEqual([])
    const allowed = await host.call(
      'read_mcp_resource',
      { server: 'private', uri: 'a:b' },
      { agent: mine.key },
    )
    expect(allowed.isError).toBe(false)
    expect(host.ctx.mcpResources.servers(mine.key)).toEqual(['private', 'shared'])
  })

  it('inherit servers and tools of enclosing scopes', async () => {
    await using host = await startHost()
    await host.mount(McpResourceRuntime)
    const preset = host.scope('preset')
    const agent = host.scope('agent', preset.key)
    await mountServer(host, 'docs', new FixedProvider('of the preset'), preset.ctx)
    expect(host.toolNames(agent.key)).toEqual(TOOLS)
    expect(await host.call('list_mcp_resources', { server: 'docs' }, { agent: agent.key })).toMatchObject({
      value: 'of the preset',
    })
    expect(host.toolNames()).toEqual([])
  })

  it('let the nearest server win a name', async () => {
    await using host = await startHost()
    await host.mount(McpResourceRuntime)
    const preset = host.scope('preset')
    const agent = host.scope('agent', preset.key)
    const ask = async (key?: object) => {
      const result = await host.call(
        'list_mcp_resources',
        { server: 'docs' },
        key === undefined ? {} : { agent: key },
      )
      return result.value
    }
    await mountServer(host, 'docs', new FixedProvider('global'))
    const ofPreset = await mountServer(host, 'docs', new FixedProvider('preset'), preset.ctx)
    await mountServer(host, 'docs', new FixedProvider('agent'), agent.ctx)
    await mountServer(host, 'extra', new FixedProvider('extra'), agent.ctx)

    expect([await ask(), await ask(preset.key), await ask(agent.key)]).toEqual(['global', 'preset', 'agent'])
    expect(host.ctx.mcpResources.servers(agent.key)).toEqual(['docs', 'extra'])
    await agent.dispose()
    expect(await ask(agent.key)).toBe('preset')
    await ofPreset.dispose()
    expect(await ask(agent.key)).toBe('global')
    expect(host.toolNames(agent.key)).toEqual(TOOLS)
  })

  it('end with their agent, whoever made the registration', async () => {
    await using host = await startHost()
    await host.mount(McpResourceRuntime)
    const agent = host.scope('agent')
    await mountServer(host, 'docs', new FixedProvider(), agent.ctx)
    await agent.dispose()
    expect(host.toolNames(agent.key)).toEqual([])
    expect(host.ctx.mcpResources.servers(agent.key)).toEqual([])
  })
})

/** A real definition of another registry, to stand for the one of a foreign plugin. */
async function borrowTools(index: number) {
  await using host = await startHost()
  await host.mount(McpResourceRuntime)
  host.ctx.mcpResources.register('other', new FixedProvider())
  return [host.ctx.tools.get(TOOLS[index]!)]
}
