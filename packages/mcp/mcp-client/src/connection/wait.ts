/** Waits that end: with what is waited for, after a bound, or with a signal. */

/**
 * Wait until something settles, a time has passed, or a signal aborts, whichever is first; nothing of the wait is
 * left then, and it never keeps a finished process alive.
 *
 * @param boundMs - the longest wait, in ms.
 * @param wanted - what is waited for. Default: nothing but the time.
 * @throws whatever `wanted` rejects with.
 */
export async function waitAtMost(
  boundMs: number,
  signal: AbortSignal | undefined,
  wanted?: Promise<unknown>,
): Promise<void> {
  if (signal?.aborted === true) return
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  const end = () => resolve()
  const timer = setTimeout(end, boundMs).unref()
  signal?.addEventListener('abort', end)
  try {
    await (wanted === undefined ? ended : Promise.race([wanted, ended]))
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', end)
  }
}
