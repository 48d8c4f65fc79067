/**
 * How often a connection lists its tools anew, when its server announces changes without end.
 *
 * Invariant: a burst of changes is followed at once; a server that announces a change with each listing costs one
 * listing a second, not as many as there is time for.
 */

/** Listings that need not wait for each other. */
const BURST = 10

/** From then on, the time for each, in ms. */
const PACE_MS = 1000

/** The pace of one connection. */
export class ListingPace {
  #left = BURST
  #countedAt: number

  /** @param now - on any clock in ms that only goes forward; the same as later on. */
  constructor(now: number) {
    this.#countedAt = now
  }

  /** How long the next listing has to wait, in ms. Whoever asks has to list. */
  waitMs(now: number): number {
    this.#left = Math.min(BURST, this.#left + (now - this.#countedAt) / PACE_MS) - 1
    this.#countedAt = now
    return Math.max(0, -this.#left * PACE_MS)
  }
}
