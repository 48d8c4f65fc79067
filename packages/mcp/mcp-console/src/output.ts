/**
 * Where a command's words go: results to standard output, everything else to standard error.
 *
 * Invariants: nothing but this writes to standard output; with `--json` exactly one JSON value goes there.
 */
import { styleText } from 'node:util'
import { jsonText } from './render/text.ts'

/** The part of a stream that is needed, so that standard output can be a private way past its guard. */
export interface Sink {
  readonly isTTY?: boolean | undefined
  readonly columns?: number | undefined
  write(text: string, done: () => void): unknown
}

/** Colours by what they mean. */
export type Tone = 'good' | 'busy' | 'bad' | 'strong' | 'faint'

const FORMATS = { good: 'green', busy: 'yellow', bad: 'red', strong: 'bold', faint: 'gray' } as const

/** Paints a text; without colours it returns it as it is. */
export type Paint = (tone: Tone, text: string) => string

/** Whether to colour what goes to a stream: only on a terminal, and not against NO_COLOR or a dumb terminal. */
export function wantsColor(sink: Sink, env: NodeJS.ProcessEnv): boolean {
  return sink.isTTY === true && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb'
}

function painter(isColored: boolean): Paint {
  return (tone, text) => (isColored ? styleText(FORMATS[tone], text, { validateStream: false }) : text)
}

/** The output of one command. */
export class Output {
  /** Paints what goes to standard output. */
  readonly paint: Paint
  /** Columns of the terminal that results go to; `undefined` when they go elsewhere. */
  readonly columns: number | undefined
  readonly #paintNote: Paint
  readonly #out: Sink
  readonly #err: Sink
  #pending: Promise<void> = Promise.resolve()

  constructor(out: Sink, err: Sink, env: NodeJS.ProcessEnv) {
    this.#out = out
    this.#err = err
    this.paint = painter(wantsColor(out, env))
    this.#paintNote = painter(wantsColor(err, env))
    this.columns =
      out.isTTY === true && out.columns !== undefined && out.columns > 0 ? out.columns : undefined
  }

  /** Write a result, and a line break when it has none. */
  result(text: string): void {
    this.#write(this.#out, text.endsWith('\n') ? text : `${text}\n`)
  }

  /** Write the one JSON value of a command with `--json`. */
  json(value: unknown): void {
    this.result(jsonText(value))
  }

  /** Write what is not a result: progress, hints. */
  note(text: string): void {
    this.#write(this.#err, `${this.#paintNote('faint', text)}\n`)
  }

  /** Write what went wrong. */
  error(text: string): void {
    this.#write(this.#err, `${this.#paintNote('bad', 'error:')} ${text}\n`)
  }

  /** Settles when everything is written. */
  async flush(): Promise<void> {
    await this.#pending
  }

  #write(sink: Sink, text: string): void {
    const written = new Promise<void>((resolve) => sink.write(text, () => resolve()))
    this.#pending = this.#pending.then(() => written)
  }
}
