/**
 * Turns a server's announcements of a change into few reports of it.
 *
 * Invariants: the first announcement is reported at once; those that follow it closely are reported together, when
 * they have ended, or after a while when they do not end; the last one is never lost; nothing is reported after the
 * end.
 */

/** How long no announcement may come for the ones before to be over, in ms. */
const QUIET_MS = 200

/** How long announcements without an end are waited for, in ms. */
const MAX_WAIT_MS = 30_000

/** The announcements of one connection. */
export class Announcements {
  readonly #report: () => void
  #lastAt = Number.NEGATIVE_INFINITY
  /** When the oldest announcement came that is not reported yet. */
  #waitingSince: number | undefined
  #timer: NodeJS.Timeout | undefined

  /** @param end - nothing is reported any more when it aborts. */
  constructor(report: () => void, end: AbortSignal) {
    this.#report = report
    end.addEventListener('abort', () => this.#stop(), { once: true })
  }

  /** Something changed. */
  announce(): void {
    const now = performance.now()
    const isFirst = now - this.#lastAt >= QUIET_MS && this.#waitingSince === undefined
    this.#lastAt = now
    if (isFirst) {
      this.#report()
      return
    }
    if (this.#waitingSince !== undefined) return
    this.#waitingSince = now
    this.#wait(QUIET_MS)
  }

  #wait(ms: number): void {
    // What is waiting to be read when the time is up is to be heard first.
    this.#timer = setTimeout(() => setImmediate(() => this.#settle()), ms).unref()
  }

  #settle(): void {
    if (this.#waitingSince === undefined) return
    const now = performance.now()
    const dueAt = Math.min(this.#lastAt + QUIET_MS, this.#waitingSince + MAX_WAIT_MS)
    if (now < dueAt) {
      this.#wait(dueAt - now)
      return
    }
    this.#waitingSince = undefined
    this.#report()
  }

  #stop(): void {
    this.#waitingSince = undefined
    clearTimeout(this.#timer)
  }
}
