/** Counts what came of each time, and measures what the host keeps of it while it lives. */

import type { TestHost } from '@dsh-mcp/host'
import { busListeners } from '../inject.ts'
import { heapInUse, openLedger } from '../ledger.ts'
import type { CampaignOptions, Tally } from './types.ts'

/** How many times nothing is counted: what is loaded and compiled then stays. */
export const WARM_UP_TIMES = 20

/** The record of one campaign. */
export class Record {
  readonly #onProgress: () => void
  readonly #problems: string[] = []
  #isWarm = false
  #injected = 0
  #recovered = 0
  #worstMs = 0

  constructor({ onProgress }: CampaignOptions) {
    this.#onProgress = onProgress
  }

  /** One time is over. */
  add(what: string, ms: number, problems: readonly string[]): void {
    this.#problems.push(...problems.map((problem) => `${what}: ${problem}`))
    if (!this.#isWarm) return
    this.#injected++
    if (problems.length === 0) this.#recovered++
    this.#worstMs = Math.max(this.#worstMs, ms)
    this.#onProgress()
  }

  /**
   * Warm up, and then go through the campaign. At the end of both the host has to be in the same state.
   *
   * @param run - makes trouble so many times.
   */
  async measure(host: TestHost, times: number, run: (times: number) => Promise<void>): Promise<Tally> {
    using ledger = openLedger()
    await run(WARM_UP_TIMES)
    this.#isWarm = true
    const listeners = busListeners(host)
    const heap = await heapOf(host)
    await ledger.rebase()
    await run(times)
    const heapGrowth = (await heapOf(host)) - heap
    const { handles, listeners: ownListeners, timers } = await ledger.leaks({ withProcesses: false })
    const left = Object.entries({ handles, listeners: ownListeners, timers })
    for (const [kind, names] of left)
      for (const name of names) this.#problems.push(`one of the ${kind} more in a living host: ${name}`)
    if (busListeners(host) !== listeners)
      this.#problems.push(`${busListeners(host) - listeners} more listeners on the bus of a living host`)
    return {
      injected: this.#injected,
      recovered: this.#recovered,
      worstMs: this.#worstMs,
      heapGrowth,
      problems: this.#problems,
    }
  }
}

/** The heap without what this program itself collects. */
async function heapOf(host: TestHost): Promise<number> {
  host.logs.clear()
  host.statuses.clear()
  return await heapInUse()
}
