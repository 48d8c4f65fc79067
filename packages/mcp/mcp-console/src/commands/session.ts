/**
 * What every command does around its own work: boot the composition, wait for it with words, say what is wrong
 * with it, and end it again whatever happens.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { boot, type Booted } from '../boot.ts'
import type { Problem } from '../composition/problems.ts'
import type { ServerRow } from '../composition/servers.ts'
import { CommandError, worst, type Outcome } from '../exit.ts'
import type { Output } from '../output.ts'
import { didYouMean } from '../render/suggest.ts'
import { waitFor } from '../wait.ts'

/** Longest wait for the servers, in ms, when the command line says nothing else. */
export const DEFAULT_START_BOUND_MS = 60_000

/** When the end of the composition is mentioned because it takes time, and when it is not waited for any more, in ms. */
const SLOW_END_MS = 1000
const END_BOUND_MS = 15_000

/** What the command line says for every command. */
export interface Common {
  readonly config: string
  readonly json: boolean
  /** Bound for starting the servers and for the call together, in ms; `undefined` for the defaults of each. */
  readonly timeoutMs: number | undefined
  readonly output: Output
  /** Aborts at the first Ctrl-C, with the signal's name as the reason. */
  readonly interrupt: AbortSignal
}

/** A composition that has settled, or that the bound has overtaken. */
export interface Session extends Common {
  readonly booted: Booted
  /** Rows that are not running as they should. */
  readonly problems: readonly Problem[]
  /** The time within which the composition did not settle, in ms; `undefined` when it did. */
  readonly overrunMs: number | undefined
  /** When everything has to be over, as `performance.now()`; `undefined` without `--timeout`. */
  readonly deadline: number | undefined
  /** The status table, with what is known to be wrong. */
  rows(): ServerRow[]
}

/** How a session is opened. */
export interface SessionOptions {
  readonly isWatching?: boolean
  /** The only servers to start; all by default. */
  readonly isWanted?: ((serverName: string) => boolean) | undefined
}

/** The outcome of an interrupt. */
export function interrupted(signal: AbortSignal): Outcome {
  return signal.reason as NodeJS.Signals
}

/** Boot, wait, work, end. */
export async function inSession(
  common: Common,
  options: SessionOptions,
  work: (session: Session) => Promise<Outcome>,
): Promise<Outcome> {
  const deadline = common.timeoutMs === undefined ? undefined : performance.now() + common.timeoutMs
  const booted = await boot({ config: common.config, ...options })
  try {
    const boundMs = common.timeoutMs ?? DEFAULT_START_BOUND_MS
    const waited = await waitFor(booted.settled(), {
      boundMs,
      signal: common.interrupt,
      onSlow: (seconds) => {
        const { servers, others } = booted.loading()
        common.output.note(`still starting after ${seconds} s: ${[...servers, ...others].join(', ')}`)
      },
    })
    if (waited.kind === 'interrupted') return interrupted(common.interrupt)
    const overrunMs = waited.kind === 'late' ? boundMs : undefined
    if (overrunMs !== undefined && booted.loading().isFile) throw notLoaded(booted.file, overrunMs)
    const problems = [...(await booted.problems()), ...unfinished(booted, boundMs)]
    const fatal = problems.find(({ row }) => row === booted.file)
    if (fatal !== undefined) throw new CommandError('unusable', `${fatal.row}: ${fatal.message}`)
    return await work({
      ...common,
      booted,
      problems,
      overrunMs,
      deadline,
      rows: () => {
        const rows = booted.servers.rows(problems)
        return overrunMs === undefined ? rows : rows.map((row) => explainLate(row, overrunMs))
      },
    })
  } finally {
    await end(booted, common.output)
  }
}

function notLoaded(file: string, boundMs: number): CommandError {
  return new CommandError('failed', `${file} was not loaded within ${boundMs} ms; --timeout MS waits longer`)
}

/** The error for a service that is not there: no row provides it, or its row has not come so far. */
export function missingService(
  { booted, overrunMs }: Session,
  what: string,
  packageName: string,
): CommandError {
  if (overrunMs !== undefined) return notLoaded(booted.file, overrunMs)
  return new CommandError('unusable', `${booted.file} ${what}; add a row for ${packageName}`)
}

/** End the composition; a plugin that never ends is left to the end of the process. */
async function end(booted: Booted, output: Output): Promise<void> {
  const over = new AbortController()
  const after = (ms: number) => delay(ms, undefined, { signal: over.signal })
  const isSlow = after(SLOW_END_MS).then(() =>
    output.note('ending the servers; press Ctrl-C again to end them at once'),
  )
  const isStuck = after(END_BOUND_MS).then(() =>
    output.note('a row of the composition does not end, and is left behind'),
  )
  await Promise.race([booted.dispose(), isStuck.catch(() => {})])
  over.abort()
  await isSlow.catch(() => {})
}

/** Rows without a server that have not finished loading in time; once a composition has settled, there are none. */
function unfinished(booted: Booted, boundMs: number): Problem[] {
  const message = `has not finished loading within ${boundMs} ms`
  return booted
    .loading()
    .others.map((row) => ({ row, message, serverName: undefined, outcome: 'unusable', fiber: undefined }))
}

function explainLate(row: ServerRow, boundMs: number): ServerRow {
  if (row.status !== 'connecting' || row.error !== null) return row
  return { ...row, error: `not connected within ${boundMs} ms; --timeout MS waits longer` }
}

/** Print what is wrong with rows. */
export function printProblems(output: Output, problems: readonly Problem[]): void {
  for (const { row, message } of problems) output.error(`${row}: ${message}`)
}

/** Problems that the status table does not show: those of rows that are no server, or could not be loaded. */
export function problemsBesideServers({ problems }: Session): Problem[] {
  return problems.filter(({ serverName }) => serverName === undefined)
}

/** The outcome of a whole composition: of its rows, and of the servers as they are now. */
export function healthOf({ problems }: Session, rows: readonly ServerRow[]): Outcome {
  const servers: Outcome = rows.every(({ status }) => status === 'connected') ? 'ok' : 'failed'
  return worst(servers, ...problems.map(({ outcome }) => outcome))
}

/** Print everything that is wrong, for a command that shows no status table. */
export function reportHealth(session: Session): Outcome {
  const rows = session.rows()
  printProblems(session.output, problemsBesideServers(session))
  for (const { serverName, status, error } of rows) {
    if (status !== 'connected') session.output.error(describeDown(serverName, status, error))
  }
  return healthOf(session, rows)
}

function describeDown(serverName: string, status: string, error: string | null): string {
  const state = status === 'failed' ? 'has failed' : `is ${status}`
  return `server ${JSON.stringify(serverName)} ${state}${error === null ? '' : `: ${error}`}`
}

/**
 * The one server that a command is about.
 *
 * @throws {CommandError} when the composition has no such server, or it is not connected.
 */
export function requireServer(session: Session, serverName: string): ServerRow {
  const rows = session.rows()
  const row = rows.find((candidate) => candidate.serverName === serverName)
  if (row === undefined) {
    printProblems(session.output, session.problems)
    const names = rows.map((candidate) => candidate.serverName)
    const choice = names.length === 0 ? 'it configures none' : `its servers are ${names.join(', ')}`
    throw new CommandError(
      'unusable',
      `${session.booted.file} configures no server ${JSON.stringify(serverName)}${didYouMean(serverName, names)}; ${choice}`,
    )
  }
  if (row.status !== 'connected') {
    const problem = session.problems.find((candidate) => candidate.serverName === serverName)
    throw new CommandError(problem?.outcome ?? 'failed', describeDown(serverName, row.status, row.error))
  }
  return row
}
