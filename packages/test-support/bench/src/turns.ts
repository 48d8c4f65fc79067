/** How long the turns of this process' event loop are, and how much memory is held, while something runs. */

import { setImmediate } from 'node:timers/promises'
import { getHeapStatistics } from 'node:v8'

/** CPU time of this thread, in ms: a busy machine stretches the wall time of a turn, but not this. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/**
 * The longest turn of the event loop while something runs, in ms of CPU time. Collecting garbage is part of it.
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

/** Turns between two looks at the memory, which take longer than most turns. */
const TURNS_PER_LOOK = 50

/** The most bytes that were held at once while something ran, its result included, above what was held before. */
export async function mostHeld(run: () => Promise<unknown>): Promise<number> {
  // What the last measurement left is collectable some turns later.
  for (let turn = 0; turn < 3; turn++) {
    await setImmediate()
    heldBytes()
  }
  const before = heldBytes()
  let most = 0
  let turns = 0
  const result = await everyTurn(run, () => {
    if (turns++ % TURNS_PER_LOOK === 0) most = Math.max(most, heldBytes())
  })
  most = Math.max(most, heldBytes())
  // The result has to live until here.
  return result === undefined ? 0 : most - before
}

async function everyTurn<Result>(
  run: () => Promise<Result>,
  note: (spentMs: number) => void,
): Promise<Result> {
  let isRunning = true
  const running = run().finally(() => (isRunning = false))
  for (let last = cpuMs(); isRunning; last = cpuMs()) {
    await setImmediate()
    note(cpuMs() - last)
  }
  return await running
}

/** Bytes of live objects, and of what they hold outside of the heap. */
export function heldBytes(): number {
  if (globalThis.gc === undefined) throw new Error('this needs --expose-gc')
  // The engine keeps the text that a regular expression matched last, whole.
  'x'.match(/x/)
  globalThis.gc()
  // What buffers held is freed in the background, and counted until the next collection.
  globalThis.gc()
  const { used_heap_size: heap, external_memory: external } = getHeapStatistics()
  return heap + external
}
