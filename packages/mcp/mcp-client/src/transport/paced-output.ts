/**
 * The standard output of a process, handed on in shares.
 *
 * A server can write lines faster than anybody works through them, and everything in the host shares one event
 * loop. Invariants: a chunk of few lines is handed on as it comes, at once; of a chunk of many, a share in each turn
 * of the event loop, in order and without a loss, and nothing more is read meanwhile.
 */
import type { Readable } from 'node:stream'
import { LF } from './line-ends.ts'

/** Lines that are handed on in one go. The slowest to work through take some 50 µs each. */
const LINES_PER_SHARE = 32

/** Reads one stream of lines. */
export class PacedOutput {
  readonly #take: (part: Buffer) => void
  #stream: Readable | null = null
  /** What was read and not handed on: the rest of a chunk, and what a stream emits although it is paused. */
  #rest: Buffer[] = []
  #turn: NodeJS.Immediate | undefined
  #isHeld = false
  #isStopped = false

  /** @param take - receives what was read, in parts that end with a line or a chunk. */
  constructor(take: (part: Buffer) => void) {
    this.#take = take
  }

  /** Whether something was read that is not handed on yet. */
  get isBusy(): boolean {
    return this.#rest.length > 0
  }

  /** Begin to read. */
  listen(stream: Readable | null): void {
    this.#stream = stream
    stream?.on('data', (chunk: Buffer) => this.#push(chunk))
  }

  /** Read nothing and hand on nothing until {@link PacedOutput.release}. */
  hold(): void {
    if (this.#isStopped) return
    this.#isHeld = true
    this.#pause()
  }

  /** Go on after {@link PacedOutput.hold}. */
  release(): void {
    if (!this.#isHeld) return
    this.#isHeld = false
    this.#goOn()
  }

  /** Hand on nothing any more. What still comes is read and dropped, so that the process can end. */
  stop(): void {
    this.#isStopped = true
    this.#rest = []
    this.#pause()
    this.#stream?.resume()
  }

  #push(chunk: Buffer): void {
    if (this.#isStopped) return
    const isFree = !this.#isHeld && this.#rest.length === 0
    const end = isFree ? endOfShare(chunk) : 0
    if (end === chunk.length) {
      this.#take(chunk)
      return
    }
    this.#rest.push(chunk.subarray(end))
    this.#stream?.pause()
    if (!isFree) return
    this.#take(chunk.subarray(0, end))
    this.#goOn()
  }

  #work(): void {
    this.#turn = undefined
    const chunk = this.#rest.shift()!
    const end = endOfShare(chunk)
    if (end < chunk.length) this.#rest.unshift(chunk.subarray(end))
    this.#take(chunk.subarray(0, end))
    this.#goOn()
  }

  #goOn(): void {
    if (this.#isHeld || this.#isStopped) return
    if (this.#rest.length > 0) this.#turn ??= setImmediate(() => this.#work())
    else this.#stream?.resume()
  }

  #pause(): void {
    clearImmediate(this.#turn)
    this.#turn = undefined
    this.#stream?.pause()
  }
}

/** Where the first share of a chunk ends. */
function endOfShare(chunk: Buffer): number {
  let end = 0
  for (let lines = 0; lines < LINES_PER_SHARE; lines++) {
    const feed = chunk.indexOf(LF, end)
    if (feed === -1) return chunk.length
    end = feed + 1
  }
  return end
}
