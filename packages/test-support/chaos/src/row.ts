/** One line of the report: what a fault or a campaign came to, over all of its times. */

import { hasLeaks, type Leaks } from './ledger.ts'

/** How the heap may grow in a fault's times together, in bytes: what the engine keeps of code and shapes. */
const FAULT_HEAP_BYTES = 3_000_000

/** How the heap may grow at each time of a campaign, in bytes, on top of that. */
const HEAP_BYTES_PER_TIME = 4096

/** The result of one fault or campaign. */
export interface Row {
  readonly name: string
  injected: number
  recovered: number
  worstMs: number
  /** Growth after the first time, in bytes. */
  heapGrowth: number
  readonly leaks: { processes: string[]; handles: string[]; listeners: string[]; timers: string[] }
  readonly problems: string[]
}

/** A row before anything happened. */
export function emptyRow(name: string): Row {
  return {
    name,
    injected: 0,
    recovered: 0,
    worstMs: 0,
    heapGrowth: 0,
    leaks: { processes: [], handles: [], listeners: [], timers: [] },
    problems: [],
  }
}

/** Add what is left after one time, or after one campaign. */
export function addLeaks({ leaks }: Row, more: Leaks): void {
  leaks.processes.push(...more.processes)
  leaks.handles.push(...more.handles)
  leaks.listeners.push(...more.listeners)
  leaks.timers.push(...more.timers)
}

/** How much the heap may have grown, in bytes. */
export function heapLimit({ injected }: Row): number {
  return FAULT_HEAP_BYTES + injected * HEAP_BYTES_PER_TIME
}

/** What is wrong with a row, in words. */
export function problemsOf(row: Row): string[] {
  const { injected, recovered, leaks, heapGrowth, problems } = row
  const leaked = Object.entries(leaks).flatMap(([kind, names]) =>
    names.map((name: string) => `leaked (${kind}): ${name}`),
  )
  return [
    ...problems,
    ...(recovered < injected && problems.length === 0
      ? [`${injected - recovered} of ${injected} did not recover`]
      : []),
    ...leaked,
    ...(heapGrowth > heapLimit(row)
      ? [`the heap grew by ${heapGrowth} bytes, and ${heapLimit(row)} are accepted`]
      : []),
  ]
}

/** Whether everything came back and nothing was left. */
export function isGood(row: Row): boolean {
  return problemsOf(row).length === 0 && !hasLeaks(row.leaks)
}
