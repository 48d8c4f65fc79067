/**
 * Which server names are in use, for each scope that tools are registered in.
 *
 * Invariants: one entry holds a name within one scope; another scope may use it as well, because its tools are
 * another layer of the registry; the hold ends with the entry, however that ends.
 */
import type { Context } from '@deepseek-ai/cordis'
import { scopeOf } from '@deepseek-ai/dsh-scope'
import { entryLabel } from './config/resolve.ts'

/** Names in use, by agent scope, or by root context for entries outside of every agent. */
const reserved = new WeakMap<object, Set<string>>()

/**
 * Hold a server name until the returned function is called.
 *
 * @throws {Error} when another entry of the scope holds it, with what to change.
 */
export function reserveServerName(ctx: Context, serverName: string): () => void {
  const scope = scopeOf(ctx) ?? ctx.root
  const names = reserved.get(scope) ?? new Set()
  reserved.set(scope, names)
  if (names.has(serverName)) {
    throw new Error(
      `${entryLabel(serverName)}: another entry of the same scope already uses serverName "${serverName}"; give this entry another serverName, or remove one of the two`,
    )
  }
  names.add(serverName)
  return () => {
    names.delete(serverName)
  }
}
