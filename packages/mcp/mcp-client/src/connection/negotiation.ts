/**
 * Which protocol era a connection speaks, and what an entry remembers of it.
 *
 * The SDK negotiates: it offers 2026-07-28 with `server/discover` and falls back to the legacy `initialize`. What
 * is ours is how long an unanswered offer is waited for, and not to repeat an offer that is known to be in vain.
 *
 * Invariant: only a legacy verdict is remembered. A modern server answers its offer with what it is now, its
 * instructions and capabilities included, so that the offer is never in vain there.
 */
import type { ClientOptions, ConnectOptions } from '@modelcontextprotocol/client'

/**
 * How long a local process may leave the offer unanswered before it is taken for a legacy server, in ms, at the
 * first attempt; the next attempts wait longer, for a server that is just slow to start. Some legacy servers
 * never answer a request that they do not know; the SDK alone would wait for 60 s.
 */
const STDIO_PROBE_MS = 5000
const MAX_PROBE_MS = 60_000

/** What is known of a server's era from the connections before. */
export type KnownEra = 'unknown' | 'legacy'

/** How one attempt negotiates. */
export interface Negotiation {
  readonly client: Pick<ClientOptions, 'versionNegotiation'>
  readonly connect: Pick<ConnectOptions, 'prior'>
}

/** The plain legacy handshake, without an offer. */
export const LEGACY_NEGOTIATION: Negotiation = { client: {}, connect: { prior: { kind: 'legacy' } } }

/**
 * How the next attempt negotiates.
 *
 * @param failures - attempts that failed in a row before this one.
 */
export function negotiate(
  transport: 'stdio' | 'streamable-http',
  known: KnownEra,
  failures: number,
): Negotiation {
  if (known === 'legacy') return LEGACY_NEGOTIATION
  const probe =
    transport === 'stdio'
      ? { timeoutMs: Math.min(STDIO_PROBE_MS * 2 ** Math.min(failures, 10), MAX_PROBE_MS) }
      : {}
  return { client: { versionNegotiation: { mode: 'auto', probe } }, connect: {} }
}
