/** Every benchmark by its name. */

import type { Benchmark } from './benchmark.ts'
import { burst } from './benchmarks/burst.ts'
import { call } from './benchmarks/call.ts'
import { dispose } from './benchmarks/dispose.ts'
import { large } from './benchmarks/large.ts'
import { listChange } from './benchmarks/list-change.ts'
import { memory } from './benchmarks/memory.ts'
import { start20 } from './benchmarks/start-20.ts'
import { start } from './benchmarks/start.ts'
import type { BenchmarkName } from './rows.ts'

/** Every benchmark, in the order of the report. */
export const BENCHMARKS: Readonly<Record<BenchmarkName, Benchmark>> = {
  start,
  'start-20': start20,
  call,
  'list-change': listChange,
  burst,
  dispose,
  memory,
  large,
}
