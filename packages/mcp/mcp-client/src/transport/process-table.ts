/**
 * What processes run on this machine, as far as it takes to find those that belong to one server.
 *
 * Invariants: reading never throws; a process that ends while it is looked at is not listed, but one that it
 * started before is; a zombie is not a process any more. Readings that are asked for at the same time are one
 * reading. No reading is of one moment: a process that starts a program (`exec`) just then shows no environment,
 * and one whose number is lower than its parent's can be missed. So one reading without a process does not prove
 * that there is none.
 */
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

/** One running process. */
export interface ProcessEntry {
  readonly pid: number
  /** Process group. */
  readonly group: number
  /** `NAME=value` pairs joined by NUL; empty where the system does not show them. */
  readonly environment: string
}

const ZOMBIE_STATES = /^[ZX]/

/** How often one reading looks for newcomers at most: on a busy machine there may always be some. */
const MAX_LISTINGS = 5

/**
 * Read the table that Linux keeps under `/proc`.
 *
 * @param root - where it is; another folder for tests.
 */
export async function readProcFs(root = '/proc'): Promise<ProcessEntry[]> {
  const names = await readdir(root).catch(() => [])
  const seen = new Set<string>()
  const entries = names.filter(isPid).map(async (pid) => {
    const read = async (file: string) =>
      await readFile(`${root}/${pid}/${file}`, 'latin1').catch(() => undefined)
    const [stat = '', environment] = [await read('stat'), await read('environ')]
    const entry = parse(pid, stat, environment ?? '')
    // A process that starts a program (`exec`) meanwhile shows no environment, and is looked at again, at once.
    // Threads of the kernel, which are in group 0, never have one.
    if (environment === '' && entry?.group !== 0) return undefined
    seen.add(pid)
    return entry
  })
  const found = (await Promise.all(entries)).filter((entry) => entry !== undefined)
  return [...found, ...readNewcomers(root, seen)]
}

/**
 * {@link readProcFs} at once, for a host that is exiting and cannot wait. Each process is read when it is asked
 * for, so that something can be done about it before it changes.
 */
export function readProcFsNow(root = '/proc'): Iterable<ProcessEntry> {
  return readNewcomers(root, new Set())
}

/**
 * Read the processes that are not in `seen`, and go on until there are no more of them. One that starts another
 * one and ends after it was listed cannot be read any more, and the other one was not listed: the next listing
 * has it.
 */
function* readNewcomers(root: string, seen: Set<string>): Generator<ProcessEntry> {
  for (let listings = 0; listings < MAX_LISTINGS; listings++) {
    const names = orElse([], () => readdirSync(root)).filter((name) => isPid(name) && !seen.has(name))
    if (names.length === 0) return
    for (const pid of names) {
      seen.add(pid)
      const read = (file: string) => orElse('', () => readFileSync(`${root}/${pid}/${file}`, 'latin1'))
      const entry = parse(pid, read('stat'), read('environ'))
      if (entry !== undefined) yield entry
    }
  }
}

function orElse<Value>(fallback: Value, read: () => Value): Value {
  try {
    return read()
  } catch {
    return fallback
  }
}

function isPid(name: string): boolean {
  return /^\d+$/.test(name)
}

/** What cannot be read is empty: a process that is gone has no `stat`, that of another user no `environ`. */
function parse(pid: string, stat: string, environment: string): ProcessEntry | undefined {
  // The command name stands in parentheses and may itself hold spaces and parentheses.
  const [state, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  if (state === undefined || group === undefined || ZOMBIE_STATES.test(state)) return undefined
  return { pid: Number(pid), group: Number(group), environment }
}

/** Read the table through the `ps` of POSIX, which shows no environments. */
export async function readPs(): Promise<ProcessEntry[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,pgid=,stat=']).catch(() => ({
    stdout: '',
  }))
  return stdout.split('\n').flatMap((line) => {
    const [pid, group, state] = line.trim().split(/\s+/)
    if (group === undefined || state === undefined || ZOMBIE_STATES.test(state)) return []
    return [{ pid: Number(pid), group: Number(group), environment: '' }]
  })
}

let running: Promise<ProcessEntry[]> | undefined
let following: Promise<ProcessEntry[]> | undefined

/**
 * The processes of this machine at some moment after the call. Calls that are made while a reading runs share
 * the one after it: sharing the running one could miss what happened since it began.
 *
 * @param platform - whose means to use; the machine's own by default.
 */
export function readProcessTable(platform: NodeJS.Platform = process.platform): Promise<ProcessEntry[]> {
  const read = (): Promise<ProcessEntry[]> => {
    following = undefined
    running = (platform === 'linux' ? readProcFs() : readPs()).finally(() => {
      running = following
    })
    return running
  }
  if (running === undefined) return read()
  following ??= running.then(read)
  return following
}
