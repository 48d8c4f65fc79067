/** Makes the transport that a resolved configuration asks for: one process, or one HTTP connection. */
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Context } from '@deepseek-ai/cordis'
import type { ResolvedConfig } from '../config/resolve.ts'
import type { Redactor } from '../diagnostics/redactor.ts'
import type { EntryLog } from '../diagnostics/entry-log.ts'
import { HttpTransport } from './http.ts'
import { StdioTransport } from './stdio.ts'
import type { ServerTransport } from './types.ts'

/** A `cwd` made absolute: a relative one starts at the folder of the composition that holds the entry. */
export function resolveCwd(cwd: string | undefined, ctx: Context): string | undefined {
  if (cwd === undefined || !ctx.baseUrl?.startsWith('file:')) return cwd
  return resolve(fileURLToPath(new URL('.', ctx.baseUrl)), cwd)
}

/**
 * A new transport; nothing is started yet.
 *
 * @param ctx - the entry's context, for the composition's folder.
 */
export function createTransport(
  ctx: Context,
  config: ResolvedConfig,
  redactor: Redactor,
  log: EntryLog,
): ServerTransport {
  const { endpoint } = config
  const { maxMessageBytes } = config
  if (endpoint.transport === 'streamable-http')
    return new HttpTransport({ ...endpoint, maxMessageBytes, redactor })
  return new StdioTransport({
    ...endpoint,
    cwd: resolveCwd(endpoint.cwd, ctx),
    maxMessageBytes,
    redactor,
    onStderr: (line) => log.debug('stderr: %s', line),
    onNoise: (sample) =>
      log.warn(
        'the server wrote to standard output what is not protocol, and it was skipped: %s (its author should write logs to standard error)',
        JSON.stringify(sample),
      ),
  })
}
