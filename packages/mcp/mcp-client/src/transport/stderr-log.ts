/**
 * What a server writes to its standard error: kept for failure messages, and passed on to the log.
 *
 * Invariants: bounded in memory and in log lines, whatever the server writes; no configured secret and no
 * control character gets through.
 */
import { LineBudget } from '../diagnostics/line-budget.ts'
import type { Redactor } from '../diagnostics/redactor.ts'
import { LineSplitter } from './line-splitter.ts'

/** Lines that a failure message can show. */
const TAIL_LINES = 20
/** Longest line that is kept, in characters. */
const MAX_LINE_LENGTH = 500
/** Longest line that is looked at, in bytes. */
const MAX_LINE_BYTES = 65_536

/** The standard error of one process. */
export class StderrLog {
  readonly #redactor: Redactor
  readonly #write: (line: string) => void
  readonly #lines: LineSplitter
  /** As it was written: most lines of a flood are never looked at. */
  readonly #tail: string[] = []
  readonly #budget = new LineBudget()

  /** @param write - receives each line that goes to the log, clean and on one line. */
  constructor(redactor: Redactor, write: (line: string) => void) {
    this.#redactor = redactor
    this.#write = write
    this.#lines = new LineSplitter(
      MAX_LINE_BYTES,
      (line) => this.#take(line.toString('utf8')),
      () => this.#take('[a line of more than 64 KiB was left out]'),
    )
  }

  /** The last lines, oldest first; at most 20 of at most 500 characters. */
  get tail(): readonly string[] {
    return this.#tail.map((line) => this.#clean(line))
  }

  /** Take what the process wrote. */
  push(chunk: Buffer): void {
    this.#lines.push(chunk)
  }

  /** Take what is left when the stream ends. */
  end(): void {
    this.#lines.end()
  }

  #clean(line: string): string {
    return this.#redactor.line(line, MAX_LINE_LENGTH)
  }

  #take(raw: string): void {
    const line = raw.trimEnd()
    if (line === '') return
    this.#tail.push(line)
    if (this.#tail.length > TAIL_LINES) this.#tail.shift()
    this.#budget.spend(
      () => this.#write(this.#clean(line)),
      (withheld) => this.#write(`[${withheld} lines of standard error were not logged]`),
    )
  }
}
