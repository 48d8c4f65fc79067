/** Compares what a run found with what is expected. Pure: the same results give the same verdicts. */
import type { Expectation } from './expected.ts'
import { DRIVER_CHECK, type Check, type ScenarioResult } from './results.ts'

/** How a scenario stands: as it must, as it is expected to fail, or neither. */
export type Standing = 'passed' | 'failed as expected' | 'UNEXPECTED'

/** The judgement of one scenario of one run. */
export interface Verdict {
  readonly scenario: string
  readonly standing: Standing
  readonly checks: readonly Check[]
  /** What is wrong, one line each; empty unless the standing is `UNEXPECTED`. */
  readonly problems: readonly string[]
  readonly stderr: string
}

const hasFailed = ({ status }: Check) => status === 'FAILURE' || status === 'WARNING'

/** Judge one scenario. */
export function judge(result: ScenarioResult, expectations: readonly Expectation[]): Verdict {
  const { scenario, checks, stderr } = result
  const verdict = (standing: Standing, problems: readonly string[] = []): Verdict => ({
    scenario,
    standing,
    checks,
    problems,
    stderr,
  })
  if (expectations.some(({ failing }) => failing?.includes(scenario))) {
    if (checks.some(hasFailed)) return verdict('failed as expected')
    return verdict('UNEXPECTED', ['it passes: take it out of the expected failures'])
  }
  const skips = expectations.flatMap(({ skipped = {} }) =>
    Object.hasOwn(skipped, scenario) ? [skipped[scenario]!] : [],
  )
  const maySkip = (name: string) => skips.some((names) => names === '*' || names.includes(name))
  const problems = checks.flatMap((check) => {
    const { name, status, message } = check
    if (hasFailed(check)) return [`${name}: ${message}`]
    if (status === 'SKIPPED' && !maySkip(name)) return [`${name}: was skipped: ${message}`]
    if (status === 'SUCCESS' && name !== DRIVER_CHECK && maySkip(name)) {
      return [`${name}: it is reached: take it out of the expected skips`]
    }
    return []
  })
  if (checks.every(({ name }) => name === DRIVER_CHECK)) problems.push('the suite made no check')
  return problems.length === 0 ? verdict('passed') : verdict('UNEXPECTED', problems)
}

/** Scenarios that are expected to fail or to be skipped and that no run has; the expectation is out of date then. */
export function unknownScenarios(seen: ReadonlySet<string>, expectations: readonly Expectation[]): string[] {
  const named = expectations.flatMap(({ failing = [], skipped = {} }) => [
    ...failing,
    ...Object.keys(skipped),
  ])
  return [...new Set(named)].filter((scenario) => !seen.has(scenario))
}
