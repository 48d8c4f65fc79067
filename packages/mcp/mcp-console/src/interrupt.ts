/**
 * Ctrl-C and its relatives. The first signal asks the running command to stop; a second one ends the process
 * at once, which also kills what is left of the servers.
 */
import { exitCode } from './exit.ts'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Wrappers such as npx pass on a signal that the terminal has sent to everybody: so close together, two are one. */
const SAME_PRESS_MS = 300

/** What a command sees of the signals. */
export interface Interrupt {
  /** Aborts at the first signal, with its name as the reason. */
  readonly signal: AbortSignal
  /** Stop listening. */
  release(): void
}

/** Listen for signals until released. */
export function watchSignals(): Interrupt {
  const controller = new AbortController()
  let firstAt: number | undefined
  const onSignal = (name: NodeJS.Signals) => {
    const now = performance.now()
    if (firstAt === undefined) {
      firstAt = now
      controller.abort(name)
    } else if (now - firstAt > SAME_PRESS_MS) {
      process.exit(exitCode(name))
    }
  }
  for (const name of SIGNALS) process.on(name, onSignal)
  return {
    signal: controller.signal,
    release() {
      for (const name of SIGNALS) process.off(name, onSignal)
    },
  }
}
