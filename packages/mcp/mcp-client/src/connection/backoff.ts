/**
 * The reconnection policy as a pure value: what one outage has used up of its budget, and what follows.
 *
 * Invariant: an {@link Outage} never changes; each event of a connection's life gives the next one.
 */
import type { ResolvedReconnect } from '../config/resolve.ts'

/** What the current outage has used so far. */
export interface Outage {
  /** Attempts that failed in a row. A connection that did not last counts as one. */
  readonly failures: number
  /** Delays that were waited for. */
  readonly delays: number
}

/** The budget of a new outage, untouched. */
export const NO_OUTAGE: Outage = { failures: 0, delays: 0 }

/** What to do after an attempt failed or a connection was lost. */
export type Recovery =
  { readonly kind: 'retry'; readonly delayMs: number; readonly outage: Outage } | { readonly kind: 'give-up' }

/** The outage after one more failed attempt. */
export function afterFailure(outage: Outage): Outage {
  return { ...outage, failures: outage.failures + 1 }
}

/**
 * The outage that a lost connection starts or goes on with. One that lasted longer than `maxDelayMs` starts a
 * new outage with a full budget; a shorter one was a failed attempt of the outage before, so that a server
 * that crashes right after each start runs out of budget.
 *
 * @param lastedMs - how long the connection was up, in ms.
 */
export function afterLoss(outage: Outage, lastedMs: number, policy: ResolvedReconnect): Outage {
  return lastedMs > policy.maxDelayMs ? NO_OUTAGE : afterFailure(outage)
}

/**
 * Whether to try again, and when: delays double from `initialDelayMs` to `maxDelayMs`.
 *
 * @param atLeastMs - a wait that the server asked for (`Retry-After`), in ms; capped at `maxDelayMs`.
 */
export function planRecovery(outage: Outage, policy: ResolvedReconnect, atLeastMs = 0): Recovery {
  if (!policy.enabled || outage.failures >= policy.maxAttempts) return { kind: 'give-up' }
  const doubled = policy.initialDelayMs * 2 ** Math.min(outage.delays, 31)
  const delayMs = Math.min(Math.max(doubled, atLeastMs), policy.maxDelayMs)
  return { kind: 'retry', delayMs, outage: { ...outage, delays: outage.delays + 1 } }
}
