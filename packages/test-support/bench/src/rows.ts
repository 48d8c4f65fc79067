/** What is measured, what it is compared with, and what it must not exceed: the one table of targets. */

import { LARGE_RESULTS } from './large-results.ts'

/** The benchmarks by name; each fills the rows that name it. */
export type BenchmarkName =
  'start' | 'start-20' | 'call' | 'list-change' | 'burst' | 'dispose' | 'memory' | 'large'

/** One line of the report. */
export interface Row {
  readonly id: string
  readonly benchmark: BenchmarkName
  readonly title: string
  /** The unit of the absolute values. */
  readonly unit: string
  /** What the reference is, where there is one. */
  readonly reference?: string
  /** What is held against the limit: this client's value divided by the reference, or the value itself. */
  readonly measure: 'ratio' | 'value'
  /** The most that is accepted; `undefined` where there is nothing to accept, only to know. */
  readonly limit?: number
}

/** Every row, in the order of the report. */
export const ROWS: readonly Row[] = [
  {
    id: 'start.time',
    benchmark: 'start',
    title: 'start to tools, stdio, legacy server',
    unit: 'ms',
    reference: 'SDK: legacy connect + list',
    measure: 'ratio',
    limit: 1.1,
  },
  {
    id: 'start.processes',
    benchmark: 'start',
    title: 'processes spawned for it',
    unit: '',
    reference: 'SDK',
    measure: 'value',
    limit: 1,
  },
  {
    id: 'start-20.time',
    benchmark: 'start-20',
    title: '20 servers at once',
    unit: 'ms',
    reference: 'SDK: 20 legacy connects + lists at once',
    measure: 'ratio',
    limit: 1.1,
  },
  {
    id: 'call.time',
    benchmark: 'call',
    title: 'a tool call',
    unit: 'µs',
    reference: 'a tool of the host that does nothing but SDK callTool',
    measure: 'ratio',
    limit: 1,
  },
  {
    id: 'call.cpu',
    benchmark: 'call',
    title: 'what it keeps this process busy for',
    unit: 'µs',
    reference: 'a tool of the host that does nothing but SDK callTool',
    measure: 'ratio',
    limit: 1,
  },
  {
    id: 'list-change.time',
    benchmark: 'list-change',
    title: '5,000 tools, one changed: announced to taken over',
    unit: 'ms',
    reference: 'SDK: announced to listTools returned',
    measure: 'ratio',
    limit: 1.2,
  },
  {
    id: 'list-change.events',
    benchmark: 'list-change',
    title: 'registry changes for it (a replacement is two)',
    unit: '',
    measure: 'value',
    limit: 2,
  },
  {
    id: 'burst.lists',
    benchmark: 'burst',
    title: '10,000 list changes announced at once: lists fetched',
    unit: '',
    reference: 'SDK: listChanged with its defaults',
    measure: 'value',
    limit: 2,
  },
  {
    id: 'dispose.left',
    benchmark: 'dispose',
    title: "dispose of sh -c 'helper & server': processes left",
    unit: '',
    reference: 'SDK: close',
    measure: 'value',
    limit: 0,
  },
  {
    id: 'dispose.time',
    benchmark: 'dispose',
    title: 'time of it (limit: the bound of decision 0003)',
    unit: 'ms',
    reference: 'SDK: close',
    measure: 'value',
    limit: 5300,
  },
  {
    id: 'memory.tools',
    benchmark: 'memory',
    title: 'memory that 5,000 registered tools hold',
    unit: 'MB',
    reference: 'SDK: the list itself',
    measure: 'ratio',
  },
  ...(['stdio', 'http'] as const).flatMap((transport) =>
    Object.entries(LARGE_RESULTS).flatMap(([kind, { title }]): Row[] => [
      {
        id: `large.${transport}.${kind}.turn`,
        benchmark: 'large',
        title: `${title} over ${transport}: longest turn of the event loop (CPU)`,
        unit: 'ms',
        reference: 'a tool of the host that has the result ready',
        measure: 'value',
        limit: 50,
      },
      {
        id: `large.${transport}.${kind}.copies`,
        benchmark: 'large',
        title: 'of it in memory at once: copies',
        unit: '',
        measure: 'value',
        limit: 2,
      },
    ]),
  ),
]
