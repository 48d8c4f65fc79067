/**
 * Answers to the server's own requests that the process has not read yet.
 *
 * Invariants: bounded, because a server that does not take its answers is not read either, and can ask no more; it
 * is that way for a bounded time. What the host asks of the server counts for nothing here: a server may well write
 * before it reads.
 */

/** Answers that may wait, in UTF-16 units; some thousands of them. */
export const MAX_PENDING = 1 << 18

/** How long nothing of too many answers may be read, in ms. */
export const STALL_MS = 5000

/** What is stopped while too many answers wait. */
export interface Source {
  hold(): void
  release(): void
}

/** The unread answers of one connection. */
export class PendingReplies {
  readonly #source: Source
  readonly #onStall: () => void
  #pending = 0
  #stall: NodeJS.Timeout | undefined
  #isOver = false

  /**
   * @param source - where requests come from.
   * @param onStall - called when too many answers wait and none is read.
   */
  constructor(source: Source, onStall: () => void) {
    this.#source = source
    this.#onStall = onStall
  }

  /** An answer of this length is being written. */
  add(length: number): void {
    this.#pending += length
    if (this.#pending <= MAX_PENDING || this.#isOver) return
    this.#stall ??= setTimeout(this.#onStall, STALL_MS).unref()
    this.#source.hold()
  }

  /** An answer of this length was read, or never will be. */
  remove(length: number): void {
    this.#pending -= length
    if (this.#pending <= MAX_PENDING) this.#free()
    else this.#stall?.refresh()
  }

  /** The process is gone, or to go: there is nothing to wait for. */
  end(): void {
    this.#isOver = true
    this.#free()
  }

  #free(): void {
    if (this.#stall === undefined) return
    clearTimeout(this.#stall)
    this.#stall = undefined
    this.#source.release()
  }
}
