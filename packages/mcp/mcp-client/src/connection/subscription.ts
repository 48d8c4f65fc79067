/**
 * Keeps a modern connection subscribed to its server's list changes.
 *
 * The SDK opens a subscription once and does not reopen one that the server ended; this does, with backoff, for
 * as long as the connection lives. Invariants: each opening is reported, so that a change made while there was no
 * subscription is not missed; a server that ends every subscription at once is asked ever less often; one that
 * does not know subscriptions is not asked again.
 */
import {
  ProtocolError,
  METHOD_NOT_FOUND,
  type Client,
  type SubscriptionFilter,
} from '@modelcontextprotocol/client'
import { waitAtMost } from './wait.ts'

/** Wait before the first reopening, in ms; each further one that does not last doubles it. */
const FIRST_DELAY_MS = 500

/** Longest wait, in ms, and how long a subscription has to last for the waits to start anew. */
const MAX_DELAY_MS = 30_000

/**
 * Stay subscribed until the signal aborts, or the server turns out not to have subscriptions.
 *
 * @param onOpened - called each time that the server acknowledges a subscription.
 * @param onRefused - called with the reason each time that it could not be opened.
 */
export async function keepSubscribed(
  client: Client,
  filter: SubscriptionFilter,
  signal: AbortSignal,
  onOpened: () => void,
  onRefused: (error: unknown) => void,
): Promise<void> {
  for (let shortOnes = 0; !signal.aborted; shortOnes++) {
    const startedAt = performance.now()
    try {
      const subscription = await client.listen(filter, { signal })
      onOpened()
      await subscription.closed
    } catch (error) {
      if (signal.aborted) return
      onRefused(error)
      if (error instanceof ProtocolError && error.code === METHOD_NOT_FOUND) return
    }
    if (performance.now() - startedAt > MAX_DELAY_MS) shortOnes = 0
    const waitMs = Math.min(FIRST_DELAY_MS * 2 ** Math.min(shortOnes, 10), MAX_DELAY_MS)
    await waitAtMost(waitMs, signal)
  }
}
