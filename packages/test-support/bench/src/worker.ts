/** Runs one benchmark in a process of its own, so that none measures what another left behind. */

import type { BenchmarkOptions, Measured } from './benchmark.ts'
import { BENCHMARKS } from './benchmarks.ts'
import type { BenchmarkName } from './rows.ts'

/** What the worker is told. */
export interface WorkerRequest {
  readonly name: BenchmarkName
  readonly options: BenchmarkOptions
}

/** What it answers: rows by id. */
export type WorkerAnswer = Readonly<Record<string, Measured>>

process.once('message', ({ name, options }: WorkerRequest) => {
  void BENCHMARKS[name](options).then((answer: WorkerAnswer) => {
    process.send?.(answer, () => process.disconnect())
  })
})
