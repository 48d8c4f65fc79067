/** Makes one fault of the zoo happen in a test. */
import { createRandom, inject, openLedger, type Fault, type Leaks } from '@dsh-mcp/chaos'

/** What a fault came to. */
export interface Encounter {
  /** Deviations from what has to come of the fault. */
  readonly problems: readonly string[]
  readonly leaks: Leaks
}

/** All is as it has to be, and no process, socket, listener or timer is left. */
export const ALL_WELL: Encounter = {
  problems: [],
  leaks: { processes: [], handles: [], listeners: [], timers: [] },
}

/** Meet a fault once, on a host of its own. */
export async function meet(fault: Fault): Promise<Encounter> {
  using ledger = openLedger()
  const { problems } = await inject(fault, createRandom(1), new AbortController().signal)
  return { problems, leaks: await ledger.leaks() }
}
