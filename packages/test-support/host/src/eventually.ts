/** Waiting for something that has no event of its own. */

/**
 * Run a check again and again until it passes; returns what it returned.
 *
 * @param check - throws (or rejects) while the time has not come, for example an `expect`.
 * @param timeout - milliseconds until the last failure is thrown. Default 20000: a bound for a broken test on a
 *   busy machine, not a measurement.
 */
export async function eventually<T>(check: () => T | Promise<T>, timeout = 20_000): Promise<T> {
  const deadline = Date.now() + timeout
  for (;;) {
    try {
      return await check()
    } catch (error) {
      if (Date.now() >= deadline) throw error
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }
}
