/** How much of the log a server may fill with something that it can cause as often as it likes. */

/** Lines in one window of time, and its length in ms. */
const LINES_PER_WINDOW = 100
const WINDOW_MS = 10_000

/** A budget of 100 lines in 10 s. */
export class LineBudget {
  #windowStart = Number.NEGATIVE_INFINITY
  #written = 0
  #withheld = 0

  /**
   * Write a line if there is room for it.
   *
   * @param write - writes it.
   * @param tell - writes how many lines were left out in the window before; called ahead of the first line after.
   */
  spend(write: () => void, tell: (withheld: number) => void): void {
    const now = performance.now()
    if (now - this.#windowStart > WINDOW_MS) {
      if (this.#withheld > 0) tell(this.#withheld)
      this.#windowStart = now
      this.#written = 0
      this.#withheld = 0
    }
    if (this.#written++ < LINES_PER_WINDOW) write()
    else this.#withheld++
  }
}
