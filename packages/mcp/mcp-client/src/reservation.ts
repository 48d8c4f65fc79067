/**
 * Which server names are in use, for each scope that tools are registered in.
 *
 * Invariants: one entry holds a name within one scope; another scope may use it as well, because its tools are
 * another layer of the registry; the hold ends with the entry, however that ends.
 */
import type { Context, Fiber } from '@deepseek-ai/cordis'
import { scopeOf } from '@deepseek-ai/dsh-scope'
import { entryLabel } from './config/resolve.ts'

interface Hold {
  readonly fiber: Fiber
  readonly released: Promise<void>
}

/** Holds by name, by agent scope, or by root context for entries outside of every agent. */
const holds = new WeakMap<object, Map<string, Hold>>()

function holdsOf(ctx: Context): Map<string, Hold> {
  const scope = scopeOf(ctx) ?? ctx.root
  const found = holds.get(scope) ?? new Map<string, Hold>()
  holds.set(scope, found)
  return found
}

/**
 * Wait while the name is held by an entry that was disposed and is still ending. Whoever replaces an entry (HMR,
 * the loader when an entry gets another id) starts the next without waiting for the one before.
 */
export async function departed(ctx: Context, serverName: string): Promise<void> {
  for (;;) {
    const hold = holdsOf(ctx).get(serverName)
    if (hold === undefined || hold.fiber.uid !== null) return
    await hold.released
  }
}

/**
 * Hold a server name until the returned function is called.
 *
 * @throws {Error} when another entry of the scope holds it, with what to change.
 */
export function reserveServerName(ctx: Context, serverName: string): () => void {
  const names = holdsOf(ctx)
  if (names.has(serverName)) {
    throw new Error(
      `${entryLabel(serverName)}: another entry of the same scope already uses serverName "${serverName}"; give this entry another serverName, or remove one of the two`,
    )
  }
  const { promise: released, resolve } = Promise.withResolvers<void>()
  names.set(serverName, { fiber: ctx.fiber, released })
  return () => {
    names.delete(serverName)
    resolve()
  }
}
