/**
 * The plugin: one entry of a composition, one MCP server.
 *
 * Invariant: everything that an activation sets up is an effect of its fiber, undone in reverse: the server's
 * name is free again when its connection is gone.
 */
import type { Context } from '@deepseek-ai/cordis'
import { activate } from './activation.ts'
import { entryLabel, resolveConfig } from './config/resolve.ts'
import type { Config as ConfigType } from './config/types.ts'
import { Entry } from './entry.ts'
import { departed, reserveServerName } from './reservation.ts'

export { Config } from './config/schema.ts'
export { McpClientConfigError } from './config/resolve.ts'
export type { CommonConfig, ReconnectConfig, StdioConfig, StreamableHttpConfig } from './config/types.ts'
export type { McpClientStatus, McpClientStatusKind } from './status.ts'
export { createMcpToolDefinition, type McpToolOptions } from './tools/definition.ts'
export { McpCallError, type McpCallErrorCode } from './tools/errors.ts'
export { publicToolName } from './tools/naming.ts'

/** The plugin's name. */
export const name = 'mcp-client'

/** The tool registry is all that an entry needs; the prompt, resources and attachments are used where they are. */
export const inject = ['tools']

/**
 * Connect the entry's server and register its tools. Settles when the first connection and the first sync are
 * done, or failed: the entry then goes on trying in the background.
 *
 * @throws {McpClientConfigError} when the configuration cannot be used; nothing is registered then.
 * @throws {Error} when another entry of the scope has the same `serverName`.
 * @throws {ConnectionFailure} when the first connection failed and `failOnStartupError` is set.
 */
export async function apply(ctx: Context, config: ConfigType): Promise<void> {
  const resolved = resolveConfig(config)
  const entry = new Entry(ctx, resolved)
  const start = async () => {
    await departed(ctx, resolved.serverName)
    if (entry.isDisposed) return
    ctx.effect(function* () {
      yield reserveServerName(ctx, resolved.serverName, () => entry.isDisposed)
      yield () => entry.dispose()
    }, entryLabel(resolved.serverName))
    await entry.start()
  }
  await activate(ctx, start, () => void entry.dispose())
}
