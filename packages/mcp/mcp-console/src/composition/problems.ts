/**
 * What is wrong with a composition: rows that could not be imported, whose configuration
 * was refused, that failed to start, or that wait for a service that no row provides.
 */
import type { Fiber } from '@deepseek-ai/cordis'
import type { Entry, Loader } from '@deepseek-ai/cordis-plugin-loader'
import { visibleLine } from '@deepseek-ai/dsh-mcp-text'
import type { Outcome } from '../exit.ts'
import { errorLine } from '../render/text.ts'
import { CLIENT_NAME, nameOf } from './client-fiber.ts'

/** One row that is not running as it should. */
export interface Problem {
  /** How a person finds the row: `row "mcp-web" (@deepseek-ai/dsh-mcp-client)`. */
  readonly row: string
  /** The server of the row, when it is one. */
  readonly serverName: string | undefined
  /** Why, in one line. */
  readonly message: string
  /** `failed`: its server is down; `unusable`: the row has to be changed. */
  readonly outcome: Outcome
  /** The running part of the row, when it got that far. */
  readonly fiber: Fiber | undefined
}

/** Services that a row may wait for, and the plugin that provides each. */
const PROVIDERS: Readonly<Record<string, string>> = {
  tools: '@deepseek-ai/dsh-tools',
  systemPrompt: '@deepseek-ai/dsh-system-prompt',
  mcpResources: '@deepseek-ai/dsh-mcp-resources',
  timer: '@deepseek-ai/cordis-plugin-timer',
}

/** What the rows are; the row that mounts the file itself stands for the file. */
export interface Rows {
  readonly loader: Loader
  /** Id of the row that mounts the file. */
  readonly rootId: string
  /** How the file is called in messages. */
  readonly file: string
}

/** Every problem of the rows that have come to rest, in the order of the file. */
export async function findProblems(rows: Rows): Promise<Problem[]> {
  const found: Problem[] = []
  const entries = [...rows.loader.entries()]
  const isFinal = !entries.some(isLoading)
  for (const entry of entries) {
    if (isLoading(entry)) continue
    const reason = await whyNotRunning(entry, isFinal)
    if (reason === undefined) continue
    const { fiber } = entry
    const isServer = fiber?.runtime?.name === CLIENT_NAME
    const serverName = isServer ? nameOf(fiber) : undefined
    found.push({
      row: entry.id === rows.rootId ? rows.file : rowLabel(entry),
      serverName,
      // It is shown beside the server's name.
      message: reason.message.replace(`${CLIENT_NAME}(${serverName}): `, ''),
      outcome: isServer && reason.isStartFailure ? 'failed' : 'unusable',
      fiber,
    })
  }
  return found
}

/** What is still loading. */
export interface Loading {
  /** Names of servers. */
  readonly servers: readonly string[]
  /** Other rows, as {@link Problem.row} calls them. */
  readonly others: readonly string[]
  /** The file itself: none of its rows is known yet. */
  readonly isFile: boolean
}

/** What is still loading, in the order of the file. */
export function findLoading({ loader, rootId }: Rows): Loading {
  const servers: string[] = []
  const others: string[] = []
  const entries = [...loader.entries()]
  for (const entry of entries) {
    if (entry.id === rootId || !isLoading(entry)) continue
    if (entry.fiber?.runtime?.name === CLIENT_NAME) servers.push(nameOf(entry.fiber))
    else others.push(rowLabel(entry))
  }
  return { servers, others, isFile: entries.every(({ id }) => id === rootId) && entries.some(isLoading) }
}

function isLoading(entry: Entry): boolean {
  return entry._initTask !== undefined || entry.fiber?.inertia !== undefined
}

function rowLabel(entry: Entry): string {
  const { id, name }: { id: unknown; name: string } = entry.options
  // In YAML it may be a number.
  return `row ${JSON.stringify(visibleLine(String(id), 60))} (${visibleLine(name, 100)})`
}

interface Reason {
  readonly message: string
  /** The row is right, but its server did not start. */
  readonly isStartFailure?: boolean
}

async function whyNotRunning(entry: Entry, isFinal: boolean): Promise<Reason | undefined> {
  try {
    if (entry.disabled) return undefined
  } catch (error) {
    return { message: `its "disabled" expression failed: ${errorLine(error)}` }
  }
  const { fiber } = entry
  // The loader only logs a failed import; Node answers a repeated one as it did the first.
  if (fiber === undefined) return await whyNotImported(entry)
  if (fiber.uid === null) return undefined
  try {
    await fiber.await()
  } catch (error) {
    const isStartFailure = error instanceof Error && error.name === 'ConnectionFailure'
    return { message: errorLine(error), isStartFailure }
  }
  // A fiber without a snapshot of its services is waiting for them.
  return fiber.store === undefined ? whyWaiting(fiber, isFinal) : undefined
}

async function whyNotImported(entry: Entry): Promise<Reason | undefined> {
  try {
    await entry.parent.tree.import(entry.options.name)
    return undefined
  } catch (error) {
    const hint =
      (error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND'
        ? '; install it, or correct its name'
        : ''
    return { message: `cannot be loaded: ${errorLine(error).replace(/ imported from .*$/, '')}${hint}` }
  }
}

function whyWaiting(fiber: Fiber, isFinal: boolean): Reason {
  const missing = Object.keys(fiber.inject).filter((name) => fiber.ctx.get(name) === undefined)
  if (!isFinal) return { message: `waits for ${missing.join(', ')}` }
  const hints = missing.flatMap((name) => PROVIDERS[name] ?? [])
  const hint = hints.length === 0 ? '' : `; add a row for ${hints.join(' and ')}`
  return { message: `waits for ${missing.join(', ')}, which no row provides${hint}` }
}
