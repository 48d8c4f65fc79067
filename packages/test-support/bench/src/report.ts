/** What a run found: rows with a verdict, and as text. */

import type { Measured, Ratio } from './benchmark.ts'
import type { Row } from './rows.ts'

/**
 * How a row stands to its limit: within, beyond, or either, with a question mark where the other cannot be ruled out.
 * `undefined` where there is no limit.
 */
export type Verdict = 'ok' | 'ok?' | 'over?' | 'over' | undefined

/** A row and what was measured for it. */
export interface Finding {
  readonly row: Row
  readonly measured: Measured
  readonly verdict: Verdict
}

/** Hold what was measured against the row's limit. */
export function judge(row: Row, measured: Measured): Finding {
  return { row, measured, verdict: verdictOf(row, measured) }
}

function verdictOf({ id, measure, limit }: Row, { ours, ratio }: Measured): Verdict {
  if (limit === undefined) return undefined
  if (measure === 'value') return ours <= limit ? 'ok' : 'over'
  if (ratio === undefined) throw new Error(`no ratio was measured for ${id}`)
  if (ratio.value <= limit) return ratio.to <= limit ? 'ok' : 'ok?'
  return ratio.from > limit ? 'over' : 'over?'
}

const HEADINGS = ['', 'this client', 'reference', 'published client', 'ratio', 'target', '']

/** The findings as one table, and what the references are below it. */
export function renderReport(findings: readonly Finding[]): string {
  const rows = [HEADINGS, ...findings.map(cells)]
  const widths = HEADINGS.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  const lines = rows.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!)))
      .join('  ')
      .trimEnd(),
  )
  lines.splice(1, 0, widths.map((width) => '-'.repeat(width)).join('  '))
  const references = findings.flatMap(({ row }) =>
    row.reference === undefined ? [] : [`  ${row.title}: ${row.reference}`],
  )
  return [...lines, '', 'References:', ...references].join('\n')
}

function cells({ row, measured, verdict }: Finding): string[] {
  const { ours, reference, upstream, ratio, upstreamRatio } = measured
  const published = amount(upstream, row.unit)
  return [
    row.title,
    amount(ours, row.unit),
    amount(reference, row.unit),
    upstreamRatio === undefined ? published : `${published} (× ${upstreamRatio.value.toFixed(2)})`,
    range(ratio),
    target(row),
    verdict ?? '',
  ]
}

function target({ limit, measure, unit }: Row): string {
  if (limit === undefined) return ''
  return measure === 'ratio' ? `≤ × ${limit}` : `≤ ${amount(limit, unit)}`
}

/** Counts as they are, measured values in three figures or whole. */
function amount(value: number | undefined, unit: string): string {
  if (value === undefined) return '–'
  if (unit === '') return value.toLocaleString('en-US')
  return `${value >= 100 ? Math.round(value).toLocaleString('en-US') : value.toPrecision(3)} ${unit}`
}

function range(ratio: Ratio | undefined): string {
  if (ratio === undefined) return ''
  return `× ${ratio.value.toFixed(2)} (${ratio.from.toFixed(2)}–${ratio.to.toFixed(2)})`
}
