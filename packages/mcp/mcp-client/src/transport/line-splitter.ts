/**
 * Cuts a stream of bytes into lines.
 *
 * Invariants: a line is copied once, however many chunks it came in; no more than `maxBytes` of an unfinished
 * line is ever held.
 */
import { LF } from './line-ends.ts'

/** Cuts chunks into lines without their line feed. */
export class LineSplitter {
  readonly #maxBytes: number
  readonly #onLine: (line: Buffer) => void
  readonly #onOverflow: () => void
  #pending: Buffer[] = []
  #pendingBytes = 0

  /**
   * @param maxBytes - largest line; a longer one is dropped and reported once when it passes the limit.
   * @param onLine - receives each complete line.
   * @param onOverflow - called for each line that passes the limit.
   */
  constructor(maxBytes: number, onLine: (line: Buffer) => void, onOverflow: () => void) {
    this.#maxBytes = maxBytes
    this.#onLine = onLine
    this.#onOverflow = onOverflow
  }

  /** Take the next chunk, and report every line that it completes. */
  push(chunk: Buffer): void {
    let start = 0
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      this.#hold(chunk.subarray(start, end))
      this.#release()
      start = end + 1
    }
    if (start < chunk.length) this.#hold(chunk.subarray(start))
  }

  /** Report what is left as a last line, when the stream ends without a line feed. */
  end(): void {
    if (this.#pendingBytes > 0) this.#release()
  }

  #hold(part: Buffer): void {
    if (part.length === 0) return
    const before = this.#pendingBytes
    this.#pendingBytes += part.length
    if (this.#pendingBytes <= this.#maxBytes) {
      this.#pending.push(part)
    } else if (before <= this.#maxBytes) {
      this.#pending = []
      this.#onOverflow()
    }
  }

  #release(): void {
    const isWhole = this.#pendingBytes <= this.#maxBytes
    const line = this.#pending.length === 1 ? this.#pending[0]! : Buffer.concat(this.#pending)
    this.#pending = []
    this.#pendingBytes = 0
    if (isWhole) this.#onLine(line)
  }
}

/**
 * How much of a chunk comes before a line that is too long, in bytes: all of it when none is.
 *
 * @param pendingBytes - how much of the chunk's first line came before.
 * @param maxBytes - largest line, without its line feed.
 */
export function bytesWithin(chunk: Buffer, pendingBytes: number, maxBytes: number): number {
  if (pendingBytes + chunk.length <= maxBytes) return chunk.length
  let before = pendingBytes
  let start = 0
  while (start < chunk.length) {
    const feed = chunk.indexOf(LF, start)
    const end = feed === -1 ? chunk.length : feed
    if (before + end - start > maxBytes) return start
    before = 0
    start = end + 1
  }
  return chunk.length
}
