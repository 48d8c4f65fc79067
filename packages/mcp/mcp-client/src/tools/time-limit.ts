/** Stops a synchronous function that takes too long, whatever it does: a loop, a recursion, a regular expression. */
import { createContext, Script } from 'node:vm'

/** Thrown when a function was stopped. */
export class TimeLimitError extends Error {
  override readonly name = 'TimeLimitError'
}

// V8 can stop what it runs, and Node offers that for scripts; the script here does nothing but call the function.
const context = createContext({ run: undefined as unknown })
const script = new Script('run()')

/**
 * Run a function to its end, or stop it. What it has half done then is lost, so it must own what it changes.
 *
 * @param limitMs - ms of wall time, a positive whole number.
 * @throws {TimeLimitError} when it was stopped.
 * @throws whatever `run` throws.
 */
export function withTimeLimit<Result>(limitMs: number, run: () => Result): Result {
  const outer = context['run']
  context['run'] = run
  try {
    return script.runInContext(context, { timeout: limitMs }) as Result
  } catch (error) {
    if ((error as { code?: unknown } | null)?.code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
    throw new TimeLimitError(`stopped after ${limitMs} ms`, { cause: error })
  } finally {
    context['run'] = outer
  }
}
