/** What a run found, as rows with a verdict and as text. */

import type { Measured, Ratio } from './benchmark.ts'
import type { Row } from './rows.ts'

/** `undefined` where there is no target. */
export type Verdict = 'ok' | 'over' | undefined

/** A row and what was measured for it. */
export interface Finding {
  readonly row: Row
  readonly measured: Measured
  readonly verdict: Verdict
}

/** Hold what was measured against the row's limit. */
export function judge(row: Row, measured: Measured): Finding {
  const value = row.measure === 'ratio' ? measured.ratio?.median : measured.ours
  if (value === undefined) throw new Error(`nothing was measured for ${row.id}`)
  const verdict = row.limit === undefined ? undefined : value <= row.limit ? 'ok' : 'over'
  return { row, measured, verdict }
}

const HEADINGS = ['', 'this client', 'reference', 'published', 'measured', 'target', '']

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
  const references = findings.map(({ row }) => `  ${row.title}: ${row.reference}`)
  return [...lines, '', 'References:', ...references].join('\n')
}

function cells({ row, measured, verdict }: Finding): string[] {
  const { ours, reference, upstream, ratio, upstreamRatio } = measured
  const published = amount(upstream, row.unit)
  return [
    row.title,
    amount(ours, row.unit),
    amount(reference, row.unit),
    upstreamRatio === undefined ? published : `${published} (× ${upstreamRatio.median.toFixed(2)})`,
    row.measure === 'value' ? '' : spread(ratio),
    row.limit === undefined
      ? ''
      : `≤ ${row.measure === 'ratio' ? '× ' : ''}${amount(row.limit, row.measure === 'ratio' ? '' : row.unit)}`,
    verdict ?? '',
  ]
}

function amount(value: number | undefined, unit: string): string {
  if (value === undefined) return '–'
  const digits =
    unit === '' || value >= 100
      ? value.toLocaleString('en-US', { maximumFractionDigits: unit === '' ? 2 : 0 })
      : value.toFixed(1)
  return unit === '' ? digits : `${digits} ${unit}`
}

function spread(ratio: Ratio | undefined): string {
  if (ratio === undefined) return ''
  return `× ${ratio.median.toFixed(2)} (${ratio.from.toFixed(2)}–${ratio.to.toFixed(2)})`
}
