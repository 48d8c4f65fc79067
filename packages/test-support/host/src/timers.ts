/**
 * Which timers are live, by the code that set them.
 *
 * `process.getActiveResourcesInfo()` cannot tell a plugin's timers from the test runner's; the stack can.
 */

import { createHook } from 'node:async_hooks'

/** Timers set since {@link trackTimers}, until it is disposed. */
export interface TimerTracker extends Disposable {
  /** Where each timer that is still pending was set: the first stack frame outside of Node itself. */
  live(): Promise<string[]>
}

/**
 * Start tracking `setTimeout` and `setInterval`, unref'ed ones too. Slows everything down; for single tests.
 *
 * @param ignore - timers set directly by a file that matches are not tracked.
 */
export function trackTimers(ignore = /\/node_modules\/(vitest|@vitest)\//u): TimerTracker {
  const live = new Map<number, string>()
  const hook = createHook({
    init(id, type) {
      if (type !== 'Timeout') return
      const frames = new Error().stack?.split('\n').slice(2) ?? []
      const frame = frames.find((line) => !line.includes('node:')) ?? 'unknown'
      if (!ignore.test(frame)) live.set(id, frame.trim())
    },
    destroy(id) {
      live.delete(id)
    },
  }).enable()
  return {
    live: async () => {
      // Node reports the end of a timer after the current turn of the event loop.
      await new Promise((resolve) => setImmediate(resolve))
      return [...live.values()]
    },
    [Symbol.dispose]: () => void hook.disable(),
  }
}
