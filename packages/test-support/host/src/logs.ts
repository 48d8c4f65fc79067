/** Collects every log message of a host, formatted as an exporter would print it. */

import { Logger } from '@deepseek-ai/cordis'
import type { Context, Exporter, LoggerType, Message } from '@deepseek-ai/cordis'

/** One collected log message. */
export interface LogEntry {
  /** The logger's name, for example `mcp-client`. */
  readonly name: string
  readonly level: LoggerType
  /** The formatted text without colours; an error is printed with its stack. */
  readonly text: string
}

/** Log messages of one host, in order. */
export class LogCollector {
  readonly #entries: LogEntry[] = []

  /**
   * Collect from the loggers of a context for as long as its fiber lives.
   *
   * @param level - the least severe level to collect: 0 error, 1 info, 2 warn, 3 debug.
   */
  attach(ctx: Context, level: number): void {
    const exporter: Exporter = {
      colors: false,
      maxLength: Number.MAX_SAFE_INTEGER,
      levels: { default: level },
      export: (message: Message) => {
        const text = Logger.format(exporter, message)
        this.#entries.push({ name: message.name, level: message.type, text })
      },
    }
    ctx.logger.exporter(exporter)
  }

  /** Everything collected so far. */
  get entries(): readonly LogEntry[] {
    return this.#entries
  }

  /** The collected entries that match; a string matches as a part of the text. */
  find(filter: { name?: string | RegExp; level?: LoggerType; text?: string | RegExp }): LogEntry[] {
    return this.#entries.filter(
      (entry) =>
        (filter.level === undefined || entry.level === filter.level) &&
        matches(entry.name, filter.name) &&
        matches(entry.text, filter.text),
    )
  }

  /** Everything as text, one `level name: text` per entry. */
  text(): string {
    return this.#entries.map(({ level, name, text }) => `${level} ${name}: ${text}`).join('\n')
  }

  /** Forget everything collected so far. */
  clear(): void {
    this.#entries.length = 0
  }
}

function matches(value: string, expected: string | RegExp | undefined): boolean {
  if (expected === undefined) return true
  return typeof expected === 'string' ? value.includes(expected) : expected.test(value)
}
