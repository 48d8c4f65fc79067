/** Waiting with a bound, for an interrupt, and with a word to whoever waits. */

/** When the first word comes, and how far apart the next ones are, in ms. */
const FIRST_NOTE_MS = 1000
const NEXT_NOTES_MS = 5000

/** How to wait. */
export interface WaitOptions {
  /** Longest wait in ms; `undefined` for no bound. */
  readonly boundMs: number | undefined
  /** Ends the wait. */
  readonly signal: AbortSignal
  /** Called after a second and then every five, with the whole seconds so far. */
  readonly onSlow: (seconds: number) => void
}

/** How a wait ended. */
export type Waited<Value> =
  { readonly kind: 'done'; readonly value: Value } | { readonly kind: 'late' | 'interrupted' }

/**
 * Wait for a promise.
 *
 * @throws what the promise rejects with.
 */
export async function waitFor<Value>(promise: Promise<Value>, options: WaitOptions): Promise<Waited<Value>> {
  const { boundMs, signal, onSlow } = options
  const startedAt = performance.now()
  let note: NodeJS.Timeout | undefined
  const remind = () => {
    onSlow(Math.round((performance.now() - startedAt) / 1000))
    note = setTimeout(remind, NEXT_NOTES_MS)
  }
  note = setTimeout(remind, FIRST_NOTE_MS)
  const { promise: given, resolve: end } = Promise.withResolvers<Waited<Value>>()
  const interrupt = () => end({ kind: 'interrupted' })
  const bound = boundMs === undefined ? undefined : setTimeout(() => end({ kind: 'late' }), boundMs)
  signal.addEventListener('abort', interrupt)
  if (signal.aborted) interrupt()
  try {
    return await Promise.race([promise.then((value): Waited<Value> => ({ kind: 'done', value })), given])
  } finally {
    clearTimeout(note)
    clearTimeout(bound)
    signal.removeEventListener('abort', interrupt)
  }
}
