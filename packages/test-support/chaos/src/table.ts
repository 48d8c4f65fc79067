/** The report as a table. */

import { isGood, type Row } from './row.ts'

const HEADINGS = [
  'fault',
  'injected',
  'recovered',
  'worst ms',
  'processes',
  'handles',
  'listeners',
  'timers',
  'heap kB',
  '',
]

function cells(row: Row): string[] {
  const { name, injected, recovered, worstMs, leaks, heapGrowth } = row
  const numbers = [
    injected,
    recovered,
    Math.round(worstMs),
    leaks.processes.length,
    leaks.handles.length,
    leaks.listeners.length,
    leaks.timers.length,
    Math.round(heapGrowth / 1000),
  ]
  return [name, ...numbers.map(String), isGood(row) ? 'ok' : 'FAILED']
}

/** One line for each row, under a line of headings. */
export function renderTable(rows: readonly Row[]): string {
  const lines = [HEADINGS, ...rows.map(cells)]
  const widths = HEADINGS.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)))
  const render = (line: readonly string[]) =>
    line
      .map((cell, column) =>
        column === 0 || column === HEADINGS.length - 1
          ? cell.padEnd(widths[column]!)
          : cell.padStart(widths[column]!),
      )
      .join('  ')
      .trimEnd()
  const [headings, ...rest] = lines.map(render)
  return [
    headings,
    widths
      .map((width) => '-'.repeat(width))
      .join('  ')
      .trimEnd(),
    ...rest,
  ].join('\n')
}
