/** The report: one table with a row for each scenario and each of its checks, and a column for each run. */
import { DRIVER_CHECK, type Check, type CheckStatus } from './results.ts'
import type { Verdict } from './verdict.ts'

/** A run and its verdicts. */
export interface RunReport {
  /** The column's heading. */
  readonly run: string
  readonly verdicts: readonly Verdict[]
}

const SIGNS: Record<CheckStatus, string> = {
  SUCCESS: 'ok',
  FAILURE: 'FAILED',
  WARNING: 'WARNING',
  SKIPPED: 'skipped',
}
const STANDINGS: Record<Verdict['standing'], string> = {
  passed: 'passed',
  'failed as expected': 'expected',
  UNEXPECTED: 'UNEXPECTED',
}

/** That the driver completed goes without saying. */
const isShown = ({ name, status }: Check) => name !== DRIVER_CHECK || status !== 'SUCCESS'

/** Passed and made checks of the suite's own, for example `passed 3/3`. */
function summary({ standing, checks }: Verdict): string {
  const made = checks.filter(({ name, status }) => name !== DRIVER_CHECK && status !== 'SKIPPED')
  if (standing === 'passed' && made.length === 0) return 'skipped'
  return `${STANDINGS[standing]} ${made.filter(({ status }) => status === 'SUCCESS').length}/${made.length}`
}

/**
 * The table as text.
 *
 * @param withChecks - whether a scenario's checks are listed below it.
 */
export function renderTable(
  reports: readonly RunReport[],
  withChecks: (scenario: string) => boolean,
): string {
  const scenarios = [...new Set(reports.flatMap(({ verdicts }) => verdicts.map(({ scenario }) => scenario)))]
  const rows = [['scenario', ...reports.map(({ run }) => run)]]
  for (const scenario of scenarios) {
    const found = reports.map(({ verdicts }) => verdicts.find((verdict) => verdict.scenario === scenario))
    rows.push([scenario, ...found.map((verdict) => (verdict === undefined ? '' : summary(verdict)))])
    if (!withChecks(scenario)) continue
    const names = new Set(
      found.flatMap((verdict) => verdict?.checks.filter(isShown).map(({ name }) => name) ?? []),
    )
    for (const name of names) {
      const cells = found.map((verdict) => verdict?.checks.find((check) => check.name === name)?.status)
      rows.push([`  ${name}`, ...cells.map((status) => (status === undefined ? '' : SIGNS[status]))])
    }
  }
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  const lines = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd(),
  )
  lines.splice(1, 0, widths.map((width) => '-'.repeat(width)).join('  '))
  return lines.join('\n')
}
