/**
 * What this process and its children hold, before and after.
 *
 * Invariants: what is only about to go is waited for, within a bound; what is then still there that was not there
 * at the start is a leak, by name.
 */

import { setTimeout as delay } from 'node:timers/promises'
import { trackTimers } from '@dsh-mcp/host'
import { ownProcesses } from './processes.ts'

/** How long what is about to go may take, in ms. */
const SETTLE_MS = 3000

/** What is held and was not held before. Empty lists when nothing leaked. */
export interface Leaks {
  /** Command lines of live processes that the plugin started. */
  readonly processes: readonly string[]
  /** Resources that keep the event loop going, by Node's name for them: sockets, pipes, children, servers. */
  readonly handles: readonly string[]
  /** Events of `process` with more listeners than before. */
  readonly listeners: readonly string[]
  /** Where timers were set that are still pending, unref'ed ones too. */
  readonly timers: readonly string[]
}

/** Compares with the moment it was opened at, or rebased. */
export interface Ledger extends Disposable {
  /** Compare with what is held from here on. */
  rebase(): Promise<void>
  /**
   * What leaked, after a while for what is about to go.
   *
   * @param options - `withProcesses: false` for a host that lives on, whose servers may be others than before.
   */
  leaks(options?: { withProcesses: boolean }): Promise<Leaks>
}

type Counts = ReadonlyMap<string, number>

function count(names: Iterable<string>): Counts {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return counts
}

/** Timers are told apart by the code that set them, see below. */
function handles(): Counts {
  return count(process.getActiveResourcesInfo().filter((type) => type !== 'Timeout' && type !== 'Immediate'))
}

function listeners(): Counts {
  return new Map(process.eventNames().map((name) => [String(name), process.listenerCount(name)]))
}

function growth(before: Counts, now: Counts): string[] {
  return [...now].flatMap(([name, many]) =>
    Array.from({ length: Math.max(0, many - (before.get(name) ?? 0)) }, () => name),
  )
}

/** Start to compare. */
export function openLedger(): Ledger {
  // The bounds of this program's own waiting, and the test runner's, are not the plugin's. Those that Node sets by
  // itself belong to a handle, and handles are counted.
  const tracker = trackTimers(/^unknown$|\/node_modules\/(vitest|@vitest)\/|\/test-support\/(chaos|host)\//u)
  let before = { handles: handles(), listeners: listeners(), timers: count([]), processes: pids() }

  async function look(withProcesses: boolean): Promise<Leaks> {
    const started = withProcesses ? ownProcesses().filter(({ pid }) => !before.processes.has(pid)) : []
    return {
      processes: started.map(({ pid, command }) => `${pid} ${command}`),
      handles: growth(before.handles, handles()),
      listeners: growth(before.listeners, listeners()),
      timers: growth(before.timers, count(await tracker.live())),
    }
  }

  return {
    rebase: async () => {
      const timers = count(await tracker.live())
      before = { handles: handles(), listeners: listeners(), timers, processes: pids() }
    },
    leaks: async ({ withProcesses } = { withProcesses: true }) => {
      const deadline = performance.now() + SETTLE_MS
      for (;;) {
        const found = await look(withProcesses)
        if (!hasLeaks(found) || performance.now() > deadline) return found
        await delay(20)
      }
    },
    [Symbol.dispose]: () => tracker[Symbol.dispose](),
  }
}

function pids(): ReadonlySet<number> {
  return new Set(ownProcesses().map(({ pid }) => pid))
}

/** Whether anything leaked. */
export function hasLeaks(leaks: Leaks): boolean {
  return Object.values(leaks).some((names: readonly string[]) => names.length > 0)
}

/**
 * What is in use of the heap and of memory outside of it that belongs to it, in bytes, after everything that can go
 * is gone. Needs `--expose-gc`.
 */
export async function heapInUse(): Promise<number> {
  if (globalThis.gc === undefined) throw new Error('start Node with --expose-gc')
  // What a finalizer releases goes with the next collection.
  for (let round = 0; round < 3; round++) {
    globalThis.gc()
    await delay(5)
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
