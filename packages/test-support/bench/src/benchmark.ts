/** What a benchmark is, and what it measured. */

/** How two contenders compare. */
export interface Ratio {
  readonly value: number
  /** Where it would lie in nine of ten repetitions. */
  readonly from: number
  readonly to: number
}

/** What was measured for one row, in the row's unit; medians of the rounds. */
export interface Measured {
  readonly ours: number
  readonly reference?: number
  readonly upstream?: number
  /** This client's value divided by the reference. */
  readonly ratio?: Ratio
  /** The published client's. */
  readonly upstreamRatio?: Ratio
}

/** What a run was asked for. */
export interface BenchmarkOptions {
  /** Rounds that count; each benchmark has a default of its own. */
  readonly rounds?: number | undefined
}

/** Measures the rows of one benchmark; returns them by id. */
export type Benchmark = (options: BenchmarkOptions) => Promise<Readonly<Record<string, Measured>>>
