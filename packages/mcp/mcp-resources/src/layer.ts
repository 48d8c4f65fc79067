/**
 * What one registration scope holds: its providers, and the shared tools while there is at least one.
 *
 * Invariant: `close` is set exactly while `providers` is not empty.
 */
import type { Context } from '@deepseek-ai/cordis'
import { createScope, NamedEntries } from '@deepseek-ai/dsh-scope'
import type { ScopeKey, ScopeLayer } from '@deepseek-ai/dsh-scope'
import type { ToolDefinition } from '@deepseek-ai/dsh-tools'
import { messageOf } from './tools.ts'
import type { McpResourceProvider } from './types.ts'

/** Providers and tools of one scope, or of the global view. */
export class ResourceLayer implements ScopeLayer {
  readonly providers = new NamedEntries<McpResourceProvider>(
    (server) =>
      new Error(
        `an MCP server named "${server}" already offers its resources in this scope: give one of the two another serverName`,
      ),
  )
  private readonly open: () => () => void
  private close: (() => void) | undefined

  /**
   * @param ctx - the service's own context, which owns the tools.
   * @param scope - the scope they are visible in, `undefined` for everywhere.
   * @param tools - the definitions to register.
   */
  constructor(ctx: Context, scope: ScopeKey | undefined, tools: readonly ToolDefinition[]) {
    this.open = () => (scope === undefined ? registerAll(ctx, tools) : registerInScope(ctx, scope, tools))
  }

  isEmpty(): boolean {
    return this.providers.isEmpty()
  }

  /**
   * Adds a provider, and the tools with the first one.
   *
   * @returns the undo: removes this provider, and the tools with the last one.
   * @throws when the name is taken, or when a tool cannot be registered; nothing has changed then.
   */
  add(server: string, provider: McpResourceProvider): () => void {
    const remove = this.providers.insert(server, provider)
    try {
      this.close ??= this.open()
    } catch (error) {
      remove()
      throw new Error(`mcp-resources: no tools for MCP server "${server}": ${messageOf(error)}`, {
        cause: error,
      })
    }
    return () => {
      remove()
      if (!this.isEmpty()) return
      this.close?.()
      this.close = undefined
    }
  }
}

/** Registers all tools or none. */
function registerAll(ctx: Context, tools: readonly ToolDefinition[]): () => void {
  const registered: (() => void)[] = []
  const unregister = () => {
    for (const dispose of registered) {
      try {
        dispose()
      } catch (error) {
        // The tool is gone; an observer of the registry failed. That must not keep the other tools.
        ctx.logger.error(error)
      }
    }
  }
  try {
    for (const tool of tools) registered.push(ctx.tools.register(tool))
  } catch (error) {
    unregister()
    throw error
  }
  return unregister
}

/** {@link registerAll} with another visibility: a scope of the service's own, tagged with the foreign key. */
function registerInScope(ctx: Context, key: ScopeKey, tools: readonly ToolDefinition[]): () => void {
  const scope = createScope(ctx, key)
  try {
    const unregister = registerAll(scope.ctx, tools)
    return () => {
      // Disposing the scope unregisters too, but not in this tick.
      unregister()
      void scope.dispose()
    }
  } catch (error) {
    void scope.dispose()
    throw error
  }
}
