/**
 * `pnpm conformance`: the client scenarios of the official suite against the plugin in the real host.
 *
 *     run.ts [--ci] [--run all|2025-11-25|2026-07-28]… [--keep FOLDER]
 *
 * Prints one table and exits 0 when every run stands exactly as `expected.ts` says, 1 otherwise. `--ci` makes
 * the two requirement runs without what is expected to fail; `--run` (repeatable) makes only these runs; `--keep` keeps what the suite wrote.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { availableParallelism, tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { expectations, isExpectedToFail } from './expected.ts'
import { GATE_VARIABLE, openGate } from './gate.ts'
import { readResults, type ScenarioResult } from './results.ts'
import { renderTable, type RunReport } from './table.ts'
import { judge, unknownScenarios } from './verdict.ts'

/** The runs and what selects them: everything, and the two requirement sets that are frozen with a revision. */
const RUNS: Readonly<Record<string, readonly string[]>> = {
  all: ['--suite', 'all'],
  '2025-11-25': ['--requirements', '2025-11-25'],
  '2026-07-28': ['--requirements', '2026-07-28'],
}

/** The suite counts a driver's wait for its turn as well. */
const SCENARIO_TIMEOUT_MS = 900_000

const packageFolder = fileURLToPath(new URL('..', import.meta.url))
const suite = createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/dist/index.js')

const { values } = parseArgs({
  options: {
    ci: { type: 'boolean', default: false },
    run: { type: 'string', multiple: true },
    keep: { type: 'string' },
  },
})

// Each scenario that must pass is in one of the requirement sets.
const runs = values.run ?? Object.keys(RUNS).filter((name) => !values.ci || name !== 'all')

/** Run the suite once and read what it found. */
async function run(selection: readonly string[], folder: string, gate: string): Promise<ScenarioResult[]> {
  // The suite splits the command at spaces and runs it in a shell, so that no path can stand in it.
  const command = ['--command', 'node src/driver.ts', '--timeout', String(SCENARIO_TIMEOUT_MS)]
  const child = spawn(process.execPath, [suite, 'client', ...command, ...selection, '--output-dir', folder], {
    cwd: packageFolder,
    stdio: ['ignore', 'pipe', 'ignore'],
    env: {
      ...process.env,
      PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}`,
      [GATE_VARIABLE]: gate,
    },
  })
  const summary = await text(child.stdout)
  const listed = [...summary.matchAll(/^[✓✗-] ([^\s:]+): /gmu)].map(([, scenario]) => scenario!)
  const results = readResults(folder)
  return listed.map(
    (scenario) =>
      results.find((result) => result.scenario === scenario) ?? {
        scenario,
        checks: [
          { name: 'scenario ran', status: 'FAILURE', message: 'the suite could not run the scenario' },
        ],
        stderr: '',
      },
  )
}

const isWanted = (scenario: string) => !(values.ci && isExpectedToFail(scenario))
const parent =
  values.keep === undefined ? mkdtempSync(join(tmpdir(), 'dsh-mcp-conformance-')) : resolve(values.keep)
const reports: RunReport[] = []
try {
  await using gate = await openGate(availableParallelism(), isWanted)
  for (const name of runs) {
    const selection = RUNS[name]
    if (selection === undefined) throw new Error(`no run ${name}; there are ${Object.keys(RUNS).join(', ')}`)
    const results = await run(selection, join(parent, name), gate.address)
    const wanted = results.filter(({ scenario }) => isWanted(scenario))
    reports.push({ run: name, verdicts: wanted.map((result) => judge(result, expectations)) })
  }
} finally {
  if (values.keep === undefined) rmSync(parent, { recursive: true, force: true })
}

const problems = reports.flatMap(({ run: name, verdicts }) => {
  if (verdicts.length === 0) return [`${name}: the suite ran no scenario`]
  return verdicts.flatMap(({ scenario, problems: found, stderr }) =>
    found.length === 0
      ? []
      : [[`${name}: ${scenario}`, ...found, ...(stderr === '' ? [] : [stderr])].join('\n')],
  )
})
if (runs.includes('all') && !values.ci) {
  const seen = new Set(reports.flatMap(({ verdicts }) => verdicts.map(({ scenario }) => scenario)))
  for (const scenario of unknownScenarios(seen, expectations)) {
    problems.push(`expected.ts: the suite has no scenario ${scenario}`)
  }
}

console.log(renderTable(reports, (scenario) => !isExpectedToFail(scenario)))
if (!values.ci) {
  console.log('\nExpected:')
  for (const { reason, failing = [], skipped = {} } of expectations) {
    console.log(
      `  ${failing.length} failing scenarios, ${Object.keys(skipped).length} with skipped checks: ${reason}`,
    )
  }
}
for (const problem of problems) console.log(`\nUNEXPECTED ${problem.replaceAll('\n', '\n    ')}`)
console.log(
  `\n${problems.length === 0 ? 'Everything stands as expected.' : `${problems.length} unexpected.`}`,
)
process.exitCode = problems.length === 0 ? 0 : 1
