/**
 * A server's list of tools as the registry would hold it: public name to tool.
 *
 * Invariant: a catalog is whole and consistent, or it is not made.
 */
import type { Tool } from '@modelcontextprotocol/client'
import { publicToolName } from './naming.ts'

/** Tools by public name, in the order of the server's list. */
export type Catalog = ReadonlyMap<string, Tool>

/** Thrown when a server's list cannot be a catalog. */
export class CatalogError extends Error {
  override readonly name = 'CatalogError'
}

/**
 * Make the catalog of a server's list.
 *
 * @param show - makes of a tool's name what may be shown of it.
 * @throws {CatalogError} when a name stands in the list twice, which the specification forbids (server/tools,
 *   tool names).
 */
export function buildCatalog(
  serverName: string,
  tools: readonly Tool[],
  show: (name: string) => string,
): Catalog {
  const catalog = new Map<string, Tool>()
  for (const tool of tools) {
    const name = publicToolName(serverName, tool.name)
    if (catalog.has(name)) {
      throw new CatalogError(
        `the server lists the tool ${JSON.stringify(show(tool.name))} twice, so its list is invalid`,
      )
    }
    catalog.set(name, tool)
  }
  return catalog
}
