/**
 * `ctx.mcpResources`: which servers offer resources in which scope.
 *
 * Invariants:
 * - A registration belongs to the context that made it: its scope decides who sees it, its fiber how long.
 * - The shared tools and the prompt section belong to the service, so no provider takes them from another.
 * - The prompt and the tools read one registry: a name that is listed is a name that resolves.
 */
import { Service } from '@deepseek-ai/cordis'
import type { Context } from '@deepseek-ai/cordis'
import { ScopedLayers } from '@deepseek-ai/dsh-scope'
import type { ScopeKey } from '@deepseek-ai/dsh-scope'
import { visibleLine } from '@deepseek-ai/dsh-mcp-text'
import { ResourceLayer } from './layer.ts'
import { serversSection } from './prompt.ts'
import { createResourceTools } from './tools.ts'
import type { McpResourceProvider } from './types.ts'

declare module '@deepseek-ai/cordis' {
  interface Context {
    mcpResources: McpResourceRuntime
  }
}

const SERVER_NAME = /^[A-Za-z0-9_-]{1,32}$/

/** Scoped access to the resources of MCP servers, plus three tools that all servers share. */
export class McpResourceRuntime extends Service {
  static readonly inject = ['tools']
  private readonly layers: ScopedLayers<ResourceLayer>

  /**
   * @param ctx - the plugin's context.
   * @param config - there is none.
   * @throws TypeError for a configuration with anything in it.
   */
  constructor(ctx: Context, config?: unknown) {
    assertNoConfig(config)
    super(ctx, 'mcpResources')
    const tools = createResourceTools((scope) => this.providers(scope))
    this.layers = new ScopedLayers(
      (scope) => new ResourceLayer(ctx, scope, tools),
      () => {}, // The tools and the prompt read the layers when they are used.
    )
    ctx.inject(['systemPrompt'], (prompting) => {
      const section = serversSection(prompting.systemPrompt, {
        servers: (scope) => this.servers(scope),
        tools: (scope) =>
          tools.filter((tool) => ctx.tools.get(tool.name, scope) === tool).map(({ name }) => name),
      })
      prompting.systemPrompt.section(section)
    })
  }

  /**
   * Registers one server in the scope of the calling context, and the shared tools with the first server of
   * that scope.
   *
   * @param server - configured name, `[A-Za-z0-9_-]{1,32}`, unique in this scope. Another scope may reuse it;
   *   for a caller the nearest one counts.
   * @param provider - the server's resources.
   * @returns the disposer of exactly this registration. It runs at the latest when the calling plugin is unloaded.
   * @throws when the name is invalid or taken, or when another plugin owns the name of a shared tool in this
   *   scope. Nothing is registered then.
   */
  register(server: string, provider: McpResourceProvider): () => void {
    assertServerName(server)
    return this.layers.effect(this.ctx, (layer) => layer.add(server, provider), {
      label: `mcpResources.register(${JSON.stringify(server)})`,
    })
  }

  /**
   * The names that a caller can use, sorted by code unit: its own scope's, those of the enclosing scopes, and
   * the global ones.
   *
   * @param scope - the calling agent; absent for the global view.
   */
  servers(scope?: ScopeKey): string[] {
    return Array.from(this.providers(scope).keys()).toSorted()
  }

  private providers(scope: ScopeKey | undefined): ReadonlyMap<string, McpResourceProvider> {
    return this.layers.merge(scope, (layer) => layer.providers)
  }
}

function assertServerName(server: unknown): void {
  if (typeof server === 'string' && SERVER_NAME.test(server)) return
  const what = typeof server === 'string' ? visibleLine(JSON.stringify(server)) : `of type ${typeof server}`
  throw new TypeError(`mcp-resources: invalid server name ${what}: use 1 to 32 letters, digits, "_" or "-"`)
}

function assertNoConfig(config: unknown): void {
  if (config === undefined || config === null) return
  const keys = typeof config === 'object' ? Object.keys(config) : undefined
  if (keys?.length === 0) return
  const what = keys === undefined ? 'a value' : keys.map((key) => JSON.stringify(key)).join(', ')
  throw new TypeError(
    `mcp-resources: there is nothing to configure here, but the entry's config has ${what}: remove it`,
  )
}
