import { Context } from '@deepseek-ai/cordis'
import SystemPrompt from '@deepseek-ai/dsh-system-prompt'
import ToolRuntime from '@deepseek-ai/dsh-tools'
import { startHost } from '@dsh-mcp/host'
import { describe, expect, it } from 'vitest'
import McpResourceRuntime from '../src/index.ts'
import { FixedProvider, mountServer, resourcesOf, TOOLS } from './support.ts'

const TEXT = (names: string) =>
  `MCP servers: ${names}\n` +
  'To find and read the resources of one of them, pass its name as `server` to `list_mcp_resources`, ' +
  '`list_mcp_resource_templates`, `read_mcp_resource`.'

const SECTION = 'mcp-resources:servers'

describe('the system prompt', () => {
  it('lists the names that the caller can use, sorted', async () => {
    await using host = await startHost()
    await host.mount(McpResourceRuntime)
    const preset = host.scope('preset')
    const agent = host.scope('agent', preset.key)
    const other = host.scope('other')
    resourcesOf(preset.ctx).register('beta', new FixedProvider())
    resourcesOf(agent.ctx).register('Zeta', new FixedProvider())
    resourcesOf(agent.ctx).register('beta', new FixedProvider())
    expect((await host.prompt()).text).toBe('')
    expect((await host.prompt(other.key)).text).toBe('')
    expect((await host.prompt(preset.key)).text).toBe(TEXT('["beta"]'))
    expect((await host.prompt(agent.key)).text).toBe(TEXT('["Zeta","beta"]'))

    resourcesOf(host.ctx).register('alpha', new FixedProvider())
    expect((await host.prompt()).text).toBe(TEXT('["alpha"]'))
    expect((await host.prompt(agent.key)).text).toBe(TEXT('["Zeta","alpha","beta"]'))
    expect((await host.prompt(agent.key)).tools.map(({ name }) => name)).toEqual(TOOLS.toSorted())
  })

  it('has one section, at the end of the tool guidance, with nothing to interpolate', async () => {
    await using host = await startHost()
    await host.mount(McpResourceRuntime)
    await mountServer(host, 'docs')
    await mountServer(host, 'web')
    for (const [name, order] of [['before', 179] as const, ['after', 181] as const]) {
      host.ctx.systemPrompt.section({ name, order, text: name })
    }
    const { sections } = await host.prompt()
    expect(sections.map(({ name }) => name).filter((name) => name !== 'deployment:persona')).toEqual([
      'before',
      SECTION,
      'after',
    ])
    expect(sections.find(({ name }) => name === SECTION)!.text).not.toMatch(/[{}]/)
  })

  it('takes the place that a later host names for it', async () => {
    await using host = await startHost()
    const asked: string[] = []
    Object.assign(host.ctx.systemPrompt, {
      getSectionOrder: (name: string) => {
        asked.push(name)
        return 5
      },
    })
    await host.mount(McpResourceRuntime)
    await mountServer(host, 'docs')
    host.ctx.systemPrompt.section({ name: 'after', order: 6, text: 'after' })
    expect((await host.prompt()).text).toBe(`${TEXT('["docs"]')}\n\nafter`)
    expect(asked).toEqual(['MCP_SERVERS'])
  })

  it('does not name tools that the caller may not use', async () => {
    await using host = await startHost()
    await host.mount(McpResourceRuntime)
    await mountServer(host, 'docs')
    const agent = host.scope('agent')
    const lift = agent.ctx.get('tools')!.restrict({ deny: ['list_mcp_resource_templates'] })
    expect((await host.prompt(agent.key)).text).toBe(
      TEXT('["docs"]').replace(', `list_mcp_resource_templates`', ''),
    )
    agent.ctx.get('tools')!.restrict({ deny: TOOLS })
    expect((await host.prompt(agent.key)).text).toBe('')
    lift()
    expect((await host.prompt()).text).toBe(TEXT('["docs"]'))
  })

  it('says nothing any more once the last server or the service is gone', async () => {
    await using host = await startHost()
    const service = await host.mount(McpResourceRuntime)
    const server = await mountServer(host, 'docs')
    await server.dispose()
    expect((await host.prompt()).text).toBe('')
    await mountServer(host, 'docs')
    await service.dispose()
    const { sections } = await host.prompt()
    expect(sections.map(({ name }) => name)).not.toContain(SECTION)
  })

  it('may appear later, go away and come back', async () => {
    // The tool registry keeps its own prompt service; the resource service sees another label of it.
    const root = new Context()
    await root.plugin(SystemPrompt, { includeHarnessIdentity: false })
    await root.plugin(ToolRuntime, {})
    const apart = root.isolate('systemPrompt')
    await apart.plugin(McpResourceRuntime)
    root.mcpResources.register('docs', new FixedProvider())
    expect(root.tools.schemas().map(({ name }) => name)).toEqual(TOOLS)

    for (let time = 0; time < 2; time++) {
      const prompt = apart.plugin(SystemPrompt, { includeHarnessIdentity: false })
      await prompt
      await new Promise(setImmediate)
      const { sections } = await apart.get('systemPrompt')!.assemble()
      expect(sections.map(({ text }) => text)).toContain(TEXT('["docs"]'))
      await prompt.dispose()
      expect(root.tools.schemas().map(({ name }) => name)).toEqual(TOOLS)
    }
    await root.fiber.dispose()
  })
})

describe('code mode', () => {
  it('shows neither tools nor text while there is no server', async () => {
    await using host = await startHost({ mode: 'code' })
    const without = await host.prompt()
    await host.mount(McpResourceRuntime)
    const { text, tools } = await host.prompt()
    expect(text).toBe(without.text)
    expect(text).not.toMatch(/mcp/i)
    expect(tools).toEqual(without.tools)
  })

  it('declares the tools in the SDK and names the servers', async () => {
    await using host = await startHost({ mode: 'code' })
    await host.mount(McpResourceRuntime)
    await mountServer(host, 'docs')
    const { text, tools } = await host.prompt()
    expect(tools.map(({ name }) => name)).toEqual(['run_code'])
    expect(text).toContain(TEXT('["docs"]'))
    for (const name of TOOLS) expect(text).toContain(`  ${name}: JsonValue;`)
  })
})
