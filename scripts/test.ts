/**
 * `npm test`: everything that must hold before a change lands, as one command and one verdict.
 *
 * Steps of one lane run one after the other, lanes run side by side. The tests' lines appear as they come, any
 * other step is silent until it is over; what failed is shown in full. The last line of stdout is always
 * `N passed, N failed`: the tests, plus one failure for each other step that failed.
 */

import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { text } from 'node:stream/consumers'

interface Step {
  readonly name: string
  /** A command line that finds the workspace's programs on PATH. */
  readonly command: string
  /** Show the output while the step runs. */
  readonly live?: boolean
}

interface Outcome {
  readonly name: string
  readonly ok: boolean
  readonly seconds: number
}

/** What we read of Vitest's JSON report. */
interface TestReport {
  readonly numPassedTests: number
  readonly numPendingTests: number
  readonly numTodoTests: number
  readonly testResults: readonly {
    readonly name: string
    readonly status: string
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[]
  }[]
}

const reportFile = 'node_modules/.cache/test-report.json'
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> }
const script = (name: string): Step => ({
  name,
  command: scripts[name] ?? `echo no script named ${name}; exit 1`,
})

const tests: Step = {
  name: 'tests',
  command: [
    // The warning is about Node's type stripping, which coverage uses.
    'node --disable-warning=ExperimentalWarning node_modules/vitest/vitest.mjs run --coverage --allowOnly=false',
    `--reporter=default --reporter=json --outputFile.json=${reportFile}`,
    process.stdout.isTTY ? '' : '--no-color',
  ].join(' '),
  live: true,
}
const lanes: readonly (readonly Step[])[] = [
  [tests],
  ['lint', 'format:check', 'typecheck', 'check:docs', 'check:packages', 'conformance:ci'].map(script),
]

const interrupted = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => interrupted.abort())

async function run(step: Step): Promise<Outcome> {
  const started = performance.now()
  const child = spawn(`${step.command} 2>&1`, {
    shell: true,
    stdio: ['ignore', step.live ? 'inherit' : 'pipe', 'inherit'],
    signal: interrupted.signal,
    // The tests' own programs must not find a colour setting that a plain run does not have.
    env: step.live
      ? process.env
      : { ...process.env, [process.stdout.isTTY ? 'FORCE_COLOR' : 'NO_COLOR']: '1' },
  })
  const [code, output] = await Promise.all([
    new Promise<number | null>((resolve) => {
      child.once('error', () => resolve(null))
      child.once('close', resolve)
    }),
    child.stdout === null ? '' : text(child.stdout),
  ])
  const outcome = { name: step.name, ok: code === 0, seconds: (performance.now() - started) / 1000 }
  if (!outcome.ok && output !== '') process.stdout.write(`\n── ${step.name} ──\n${output.trimEnd()}\n\n`)
  return outcome
}

async function runLane(steps: readonly Step[]): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  for (const step of steps) if (!interrupted.signal.aborted) outcomes.push(await run(step))
  return outcomes
}

/** Count the tests and name each reason why the test run is not green. */
function readTests(outcome: Outcome): { passed: number; failures: string[] } {
  const report = (() => {
    try {
      return JSON.parse(readFileSync(reportFile, 'utf8')) as TestReport
    } catch {
      return undefined
    }
  })()
  if (report === undefined) return { passed: 0, failures: ['tests: the run ended without a report'] }
  const failures = report.testResults.flatMap((file) => {
    const bad = file.assertionResults.filter((test) => test.status !== 'passed')
    if (bad.length === 0 && file.status !== 'passed') return [`tests: ${file.name} could not run`]
    return bad.map((test) => `tests: ${test.fullName} (${test.status})`)
  })
  if (failures.length === 0 && !outcome.ok)
    failures.push('tests: coverage below 100 % or an unhandled error, see above')
  return { passed: report.numPassedTests, failures }
}

rmSync(reportFile, { force: true })
mkdirSync(dirname(reportFile), { recursive: true })
process.stdout.write(
  `Running ${lanes
    .flat()
    .map((step) => step.name)
    .join(', ')}\n`,
)

const outcomes = (await Promise.all(lanes.map(runLane))).flat()
const { passed, failures } = readTests(outcomes.find((outcome) => outcome.name === tests.name)!)
for (const outcome of outcomes) {
  if (outcome.name !== tests.name && !outcome.ok) failures.push(`${outcome.name}: see above`)
}
if (interrupted.signal.aborted) failures.push('interrupted')

process.stdout.write('\n')
for (const { name, ok, seconds } of outcomes) {
  process.stdout.write(`${ok ? 'ok    ' : 'FAILED'} ${name.padEnd(16)} ${seconds.toFixed(1).padStart(6)} s\n`)
}
for (const failure of failures) process.stdout.write(`failed: ${failure}\n`)
process.stdout.write(`${passed} passed, ${failures.length} failed\n`)
process.exitCode = failures.length === 0 ? 0 : 1
