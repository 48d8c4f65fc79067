/**
 * The state of an entry's connection: a few named kinds, and which may follow which.
 *
 * Invariant: {@link transition} is the only way from one state to the next, and refuses every edge that is not
 * in the table, so that a state can be trusted by whoever reads it.
 */
import type { ConnectionFailure } from '../diagnostics/failure.ts'
import type { Generation } from './generation.ts'

/** Why an attempt is being made: the entry starts, a backoff ended, or the server forgot the HTTP session. */
export type AttemptCause = 'start' | 'retry' | 'session-lost'

/** Where the connection is. */
export type ConnectionState =
  | {
      readonly kind: 'connecting'
      readonly cause: AttemptCause
      /** Attempt of the outage, from 1. */
      readonly attempt: number
      /** Settles, without rejecting, when this attempt is over. */
      readonly settled: Promise<void>
    }
  | { readonly kind: 'connected'; readonly generation: Generation }
  | {
      readonly kind: 'backoff'
      /** The attempt that comes next. */
      readonly attempt: number
      /** ms since the epoch. */
      readonly nextAttemptAt: number
      readonly failure: ConnectionFailure
    }
  | { readonly kind: 'failed'; readonly failure: ConnectionFailure }
  | { readonly kind: 'disposed' }

const FOLLOWERS: Record<ConnectionState['kind'], readonly ConnectionState['kind'][]> = {
  connecting: ['connected', 'backoff', 'failed', 'disposed'],
  connected: ['connecting', 'backoff', 'failed', 'disposed'],
  backoff: ['connecting', 'disposed'],
  failed: ['disposed'],
  disposed: [],
}

/**
 * Take the edge from one state to the next.
 *
 * @param from - the state before, or `undefined` for an entry that has not started; only `connecting` follows it.
 * @returns `to`.
 * @throws {Error} on an edge that is not in the table.
 */
export function transition<To extends ConnectionState>(from: ConnectionState | undefined, to: To): To {
  const followers: readonly string[] = from === undefined ? ['connecting'] : FOLLOWERS[from.kind]
  if (!followers.includes(to.kind)) {
    throw new Error(`illegal transition of the connection from ${from?.kind ?? 'nothing'} to ${to.kind}`)
  }
  return to
}
