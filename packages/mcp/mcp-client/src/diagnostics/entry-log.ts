/** The log of one entry: a logger of its own, and every line starts with the entry's name. */
import type { Context } from '@deepseek-ai/cordis'
import { entryLabel } from '../config/resolve.ts'

/** Writes lines that name the entry. Formats as Cordis' logger does: `%s`, `%d`. */
export type EntryLog = Record<
  'debug' | 'info' | 'warn' | 'error',
  (format: string, ...args: unknown[]) => void
>

/**
 * The log of an entry. Its logger is called `mcp-client`, so that a host sets one level for all entries; the
 * entry's name leads each line.
 */
export function createEntryLog(ctx: Context, serverName: string): EntryLog {
  const logger = ctx.logger('mcp-client')
  const label = entryLabel(serverName)
  const write =
    (level: keyof EntryLog) =>
    (format: string, ...args: unknown[]) =>
      logger[level](`${label}: ${format}`, ...args)
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }
}
