/** What a campaign is: one kind of trouble, many times, on one host that lives through all of it. */

import type { Random } from '../random.ts'

/** What came of a campaign. */
export interface Tally {
  /** How often the trouble was made. */
  readonly injected: number
  /** How often everything came back as it has to. */
  readonly recovered: number
  readonly worstMs: number
  /** Growth of the heap while the host lived, after a warm-up, in bytes. */
  readonly heapGrowth: number
  readonly problems: readonly string[]
}

/** How a campaign is run. */
export interface CampaignOptions {
  /** How often, without the warm-up. */
  readonly times: number
  readonly random: Random
  /** The caller's cancellation for every call; nothing may stay attached to it. */
  readonly signal: AbortSignal
  /** Told after each time. */
  onProgress(): void
}

/** One campaign. */
export interface Campaign {
  /** In kebab case, for `--only` and the table. */
  readonly name: string
  readonly does: string
  /** How often a run without arguments makes the trouble. */
  readonly defaultTimes: number
  run(options: CampaignOptions): Promise<Tally>
}
