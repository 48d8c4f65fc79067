/**
 * Which server names are in use, for each scope that tools are registered in.
 *
 * Invariants: one entry holds a name within one scope; another scope may use it as well, because its tools are
 * another layer of the registry; the hold ends with the entry, however that ends.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Context } from '@deepseek-ai/cordis'
import { scopeOf } from '@deepseek-ai/dsh-scope'
import { entryLabel } from './config/resolve.ts'

interface Hold {
  /** Whether the entry that holds the name is about to let it go. */
  isEnding(): boolean
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
 * Wait while the name is held by an entry that is ending. Whoever replaces an entry (HMR, the loader when an entry
 * gets another id) starts the next without waiting for the one before, and one edit of a composition can pass names
 * on from entry to entry: each is told of it in turn.
 */
export async function departed(ctx: Context, serverName: string): Promise<void> {
  let isTurnOver = false
  for (;;) {
    const hold = holdsOf(ctx).get(serverName)
    if (hold === undefined) return
    if (hold.isEnding()) await hold.released
    else if (isTurnOver) return
    else {
      await nextTurn()
      isTurnOver = true
    }
  }
}

/**
 * Hold a server name until the returned function is called.
 *
 * @param isEnding - whether the entry was told to end.
 * @throws {Error} when another entry of the scope holds it, with what to change.
 */
export function reserveServerName(ctx: Context, serverName: string, isEnding: () => boolean): () => void {
  const names = holdsOf(ctx)
  if (names.has(serverName)) {
    throw new Error(
      `${entryLabel(serverName)}: another entry of the same scope already uses serverName "${serverName}"; give this entry another serverName, or remove one of the two`,
    )
  }
  const { promise: released, resolve } = Promise.withResolvers<void>()
  const { fiber } = ctx
  names.set(serverName, { isEnding: () => fiber.uid === null || isEnding(), released })
  return () => {
    names.delete(serverName)
    resolve()
  }
}
