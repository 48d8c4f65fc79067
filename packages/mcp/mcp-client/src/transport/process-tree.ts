/**
 * One server's processes: the one that was spawned, and every one that came of it.
 *
 * Owns the end of all of them. Invariants: after {@link ProcessTree.end} settles, none is left, wrappers,
 * helpers and daemons included, nor a helper that keeps starting another one in its place; it is bounded in time
 * whatever they do; and when the host exits without disposing, none is left either. A tree is known by its
 * process group and by a marker in its environment, which also finds a helper that made a group of its own.
 * Both ends look and kill until nothing is found twice in a row. What they cannot find is what shows no marker
 * and left the group, and what outruns them for the whole of their time.
 */
import { execFile, type ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { onExit } from 'signal-exit'
import { readProcessTable, readProcFsNow, type ProcessEntry } from './process-table.ts'

/** Environment name that marks every process of a tree. */
export const MARKER_NAME = 'MCP_CLIENT_GENERATION'

/** How long each step of an ending may take before the next one, in ms. */
export interface EndingGrace {
  /** From the end of the input to the signal. */
  readonly politeMs: number
  /** From the signal to the kill. */
  readonly signalMs: number
  /** From the signal to the kill, for helpers that outlived the server itself. */
  readonly sweepMs: number
}

/** At most about four seconds for a server that ignores everything; nothing for one that ends by itself. */
export const DEFAULT_GRACE: EndingGrace = { politeMs: 1500, signalMs: 1500, sweepMs: 300 }

/** How often a sweep looks again after it found something, and how long it may take until all is killed, in ms. */
const SWEEP_POLL_MS = 20
const KILL_BOUND_MS = 1000

/** How often what is left is killed at least, however little the host gets to run in that time. */
const MIN_KILLS = 3

/**
 * How many readings in a row have to find nothing. One can miss a process that starts a program just then; with
 * one, 3 of 150 helpers that forked as their server ended were left behind, with two none of 150.
 */
const EMPTY_READINGS = 2

/** What the exit of the host waits on after a reading that found nothing: for this long, as nobody wakes it. */
const EMPTY_PAUSE_MS = 5
const PAUSE = new Int32Array(new SharedArrayBuffer(4))

/** Trees that the exit of the host has to end. */
const living = new Set<ProcessTree>()
let releaseExitHook: (() => void) | undefined

/**
 * Kill every process of every living tree, as far as it can be found, before it returns: what the exit of the host
 * does, when nothing can be awaited any more. It blocks for some 10 ms, and for a second at most.
 */
export function killAllNow(): void {
  for (const each of living) each.killGroupNow()
  const started = performance.now()
  let kills = 0
  let empty = 0
  while (empty < EMPTY_READINGS && (kills < MIN_KILLS || performance.now() - started < KILL_BOUND_MS)) {
    let found = false
    for (const entry of readProcFsNow()) {
      if (![...living].some((tree) => tree.owns(entry))) continue
      signal(entry.pid, 'SIGKILL')
      found = true
    }
    empty = found ? 0 : empty + 1
    if (found) kills++
    // Two readings at once would miss the same process: it has to get on with what it is doing.
    else Atomics.wait(PAUSE, 0, 0, EMPTY_PAUSE_MS)
  }
}

function guard(tree: ProcessTree): void {
  living.add(tree)
  releaseExitHook ??= onExit(killAllNow)
}

function unguard(tree: ProcessTree): void {
  living.delete(tree)
  if (living.size > 0) return
  releaseExitHook?.()
  releaseExitHook = undefined
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // Gone already, or not ours to signal: either way there is nothing more to do about it.
  }
}

/** The processes of one server. */
export class ProcessTree {
  /** Has to stand in the environment that the child is spawned with. */
  readonly marker: Readonly<Record<string, string>> = { [MARKER_NAME]: randomUUID() }
  /** Options that the child has to be spawned with, so that it leads a group of its own. */
  readonly spawnOptions: { readonly detached: boolean; readonly windowsHide: true }
  readonly #platform: NodeJS.Platform
  #child: ChildProcess | undefined
  #exited: Promise<void> = Promise.resolve()

  /** @param platform - whose means to use; the machine's own by default. */
  constructor(platform: NodeJS.Platform = process.platform) {
    this.#platform = platform
    this.spawnOptions = { detached: platform !== 'win32', windowsHide: true }
  }

  /** Take over a child that was just spawned. */
  adopt(child: ChildProcess): void {
    if (child.pid === undefined) return
    this.#child = child
    this.#exited = new Promise((resolve) => child.once('exit', () => resolve()))
    guard(this)
  }

  /** End every process of the tree: by the end of its input, then by signal, then by force. */
  async end(grace: EndingGrace = DEFAULT_GRACE): Promise<void> {
    const child = this.#child
    if (child === undefined) return
    child.stdin?.end()
    if (!(await this.#exitsWithin(grace.politeMs))) {
      this.#signalGroup(child, 'SIGTERM')
      if (!(await this.#exitsWithin(grace.signalMs))) {
        this.#signalGroup(child, 'SIGKILL')
        await this.#exitsWithin(KILL_BOUND_MS)
      }
    }
    await this.#sweep(grace.sweepMs)
    unguard(this)
  }

  /** Kill the group without waiting for anything: the part of {@link killAllNow} that works on every system. */
  killGroupNow(): void {
    if (this.#child !== undefined) this.#signalGroup(this.#child, 'SIGKILL')
  }

  /** Whether this is one of the tree's processes. */
  owns(entry: ProcessEntry): boolean {
    return (
      entry.group === this.#child?.pid ||
      entry.environment.includes(`${MARKER_NAME}=${this.marker[MARKER_NAME]}`)
    )
  }

  async #exitsWithin(ms: number): Promise<boolean> {
    const timer = new AbortController()
    const timeout = delay(ms, false, { ref: false, signal: timer.signal }).catch(() => false)
    const isGone = await Promise.race([this.#exited.then(() => true), timeout])
    timer.abort()
    return isGone
  }

  #signalGroup(child: ChildProcess, name: NodeJS.Signals): void {
    if (this.#platform !== 'win32') signal(-child.pid!, name)
    else
      execFile('taskkill', ['/pid', String(child.pid), '/T', '/F'], (error) => error && child.kill('SIGKILL'))
  }

  /** End what outlived the server itself: helpers that it left behind. Windows' taskkill took them along. */
  async #sweep(graceMs: number): Promise<void> {
    if (this.#platform === 'win32') return
    const started = performance.now()
    let kills = 0
    let empty = 0
    while (
      empty < EMPTY_READINGS &&
      (kills < MIN_KILLS || performance.now() - started < graceMs + KILL_BOUND_MS)
    ) {
      const left = (await readProcessTable(this.#platform)).filter((entry) => this.owns(entry))
      if (left.length === 0) {
        empty++
        continue
      }
      empty = 0
      const isPolite = performance.now() - started < graceMs
      for (const entry of left) signal(entry.pid, isPolite ? 'SIGTERM' : 'SIGKILL')
      if (!isPolite) kills++
      await delay(SWEEP_POLL_MS)
    }
  }
}
