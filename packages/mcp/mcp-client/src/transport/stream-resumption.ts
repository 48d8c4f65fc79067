/**
 * When an event stream that ended is opened again.
 *
 * The SDK resumes streams but keeps the timer of only one of them, and takes any delay that a server names. This
 * keeps all of them. Invariants: a delay is within bounds, whatever the server says; streams that end without
 * a byte come back ever later; after {@link StreamResumption.cancel} nothing is waiting, and no timer ever keeps
 * a finished process alive.
 */

/** Shortest and longest wait before a stream is opened again, in ms. */
const MIN_RESUMPTION_MS = 100
const MAX_RESUMPTION_MS = 30_000

/** How the SDK paces the resumption of one stream: 0.5 s, doubling to 30 s, ten times in a row. */
export const RESUMPTION_PACE = {
  initialReconnectionDelay: 500,
  maxReconnectionDelay: MAX_RESUMPTION_MS,
  reconnectionDelayGrowFactor: 2,
  maxRetries: 10,
}

/** Schedules the resumption of a connection's event streams. */
export class StreamResumption {
  readonly #timers = new Set<NodeJS.Timeout>()
  /** Resumptions in a row that brought nothing. */
  #fruitless = 0

  /**
   * Open a stream again after a while; an SDK `ReconnectionScheduler`.
   *
   * @param delayMs - what the server asked for (`retry:`), or the SDK's own pace.
   */
  schedule(resume: () => void, delayMs: number): () => void {
    const atLeastMs = Math.max(delayMs, MIN_RESUMPTION_MS * 2 ** Math.min(this.#fruitless++, 10))
    const timer = setTimeout(
      () => {
        this.#timers.delete(timer)
        resume()
      },
      Math.min(atLeastMs, MAX_RESUMPTION_MS),
    ).unref()
    this.#timers.add(timer)
    return () => {
      clearTimeout(timer)
      this.#timers.delete(timer)
    }
  }

  /** A stream brought something. */
  progressed(): void {
    this.#fruitless = 0
  }

  /** Open nothing again. */
  cancel(): void {
    for (const timer of this.#timers) clearTimeout(timer)
    this.#timers.clear()
  }
}
