/**
 * Keeps a modern connection subscribed to its server's list changes.
 *
 * The SDK opens a subscription once and does not reopen one that the server ended; this does, with backoff, for
 * as long as the connection lives. Invariant: each opening is reported, so that a change made while there was no
 * subscription is not missed.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Client, SubscriptionFilter } from '@modelcontextprotocol/client'

const FIRST_DELAY_MS = 500
const MAX_DELAY_MS = 30_000

/**
 * Stay subscribed until the signal aborts.
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
  for (let failures = 0; !signal.aborted; failures++) {
    try {
      const subscription = await client.listen(filter, { signal })
      failures = 0
      onOpened()
      await subscription.closed
    } catch (error) {
      if (!signal.aborted) onRefused(error)
    }
    const waitMs = Math.min(FIRST_DELAY_MS * 2 ** Math.min(failures, 10), MAX_DELAY_MS)
    await delay(waitMs, undefined, { ref: false, signal }).catch(() => {})
  }
}
