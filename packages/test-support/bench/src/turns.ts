/** How long the turns of this process' event loop are, and how much memory is held, while something runs. */

import { setImmediate } from 'node:timers/promises'
import { getHeapStatistics } from 'node:v8'

/** CPU time of this thread, in ms: a busy machine stretches the wall time of a turn, but not this. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/**
 * The longest turn of the event loop while something runs, in ms of CPU time.
 *
 * @param run - what has to finish.
 */
export async function longestTurn(run: () => Promise<unknown>): Promise<number> {
  let longest = 0
  await everyTurn(run, (spent) => {
    longest = Math.max(longest, spent)
  })
  return longest
}

/** Turns between two looks at the memory: collecting garbage takes longer than most of them. */
const TURNS_PER_LOOK = 8

/** The most bytes that were held at once while something ran, above what was held before. */
export async function mostHeld(run: () => Promise<unknown>): Promise<number> {
  const before = heldBytes()
  let most = 0
  let turns = 0
  await everyTurn(run, () => {
    if (turns++ % TURNS_PER_LOOK === 0) most = Math.max(most, heldBytes())
  })
  return Math.max(most, heldBytes()) - before
}

async function everyTurn(run: () => Promise<unknown>, note: (spentMs: number) => void): Promise<void> {
  let isRunning = true
  const running = run().finally(() => (isRunning = false))
  for (let last = cpuMs(); isRunning; last = cpuMs()) {
    await setImmediate()
    note(cpuMs() - last)
  }
  await running
}

/** Bytes of live objects, and of what they hold outside of the heap. */
function heldBytes(): number {
  if (globalThis.gc === undefined) throw new Error('this needs --expose-gc')
  globalThis.gc()
  const { used_heap_size: heap, external_memory: external } = getHeapStatistics()
  return heap + external
}
