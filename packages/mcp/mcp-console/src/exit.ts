/**
 * How a command can end, and the one table of what that means to the shell.
 *
 * Invariant: nothing else in the package chooses an exit code.
 */

/** How a command ended. */
export type Outcome =
  /** All is well. */
  | 'ok'
  /** A server or a call failed. */
  | 'failed'
  /** The command line or the composition cannot be used as it is written. */
  | 'unusable'
  /** Ended from outside, before its work was done. */
  | NodeJS.Signals

const EXIT_CODES: Partial<Record<Outcome, number>> = {
  ok: 0,
  failed: 1,
  unusable: 2,
  SIGHUP: 129,
  SIGINT: 130,
  SIGTERM: 143,
}

/** The exit code that an outcome stands for. */
export function exitCode(outcome: Outcome): number {
  return EXIT_CODES[outcome] ?? 1
}

/** The worse of several outcomes: a composition that cannot be used counts more than a server that is down. */
export function worst(...outcomes: Outcome[]): Outcome {
  return outcomes.reduce((a, b) => (exitCode(b) > exitCode(a) ? b : a), 'ok')
}

/** Ends a command. The message is one line for the person at the terminal: what is wrong, and what to do. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
  readonly outcome: Outcome

  constructor(outcome: Outcome, message: string, options?: ErrorOptions) {
    super(message, options)
    this.outcome = outcome
  }
}

/** The outcome that a thrown value stands for. */
export function outcomeOf(error: unknown): Outcome {
  return error instanceof CommandError ? error.outcome : 'failed'
}
