/** The log of one entry: a logger of its own, and every line starts with the entry's name. */
import type { Context } from '@deepseek-ai/cordis'
import { entryLabel } from '../config/resolve.ts'
import { LineBudget } from './line-budget.ts'

type Level = 'debug' | 'info' | 'warn' | 'error'

/** Writes lines that name the entry. Formats as Cordis' logger does: `%s`, `%d`. */
export interface EntryLog extends Record<Level, (format: string, ...args: unknown[]) => void> {
  /**
   * Write an error that the server can cause as often as it likes, at the level debug: at most 100 in 10 s, and
   * then how many were left out.
   *
   * @param describe - makes the text, for an error that is written.
   */
  serverError(describe: () => string): void
}

/**
 * The log of an entry. Its logger is called `mcp-client`, so that a host sets one level for all entries; the
 * entry's name leads each line.
 */
export function createEntryLog(ctx: Context, serverName: string): EntryLog {
  const logger = ctx.logger('mcp-client')
  const label = entryLabel(serverName)
  const budget = new LineBudget()
  const write =
    (level: Level) =>
    (format: string, ...args: unknown[]) =>
      logger[level](`${label}: ${format}`, ...args)
  const debug = write('debug')
  return {
    debug,
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    serverError: (describe) =>
      budget.spend(
        () => debug('%s', describe()),
        (withheld) => debug('[%d errors of the connection were not logged]', withheld),
      ),
  }
}
