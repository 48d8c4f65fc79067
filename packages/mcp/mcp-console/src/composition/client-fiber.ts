/** Which parts of a running composition are MCP clients, and what their rows say. */
import type { Fiber } from '@deepseek-ai/cordis'
import { visibleLine } from '@deepseek-ai/dsh-mcp-text'

/** The name of the MCP client plugin, by which its rows are told from others. */
export const CLIENT_NAME = 'mcp-client'

/** The configuration as far as it is known: resolved, or as it was written. */
function configOf(fiber: Fiber): { serverName?: unknown; transport?: unknown } {
  const config: unknown = fiber.config ?? fiber._config
  return typeof config === 'object' && config !== null ? config : {}
}

/** The configured name of a client's server, or the id of its row. */
export function nameOf(fiber: Fiber): string {
  const { serverName } = configOf(fiber)
  return visibleLine(
    typeof serverName === 'string' ? serverName : (fiber.entry?.options.id ?? CLIENT_NAME),
    40,
  )
}

/** The configured transport of a client's server; `null` when there is none. */
export function transportOf(fiber: Fiber): string | null {
  const { transport } = configOf(fiber)
  return typeof transport === 'string' ? visibleLine(transport, 40) : null
}
