/**
 * `pnpm bench [name…] [--json] [--check] [--rounds N]`: what this client costs on top of the SDK, next to what the
 * published client costs.
 *
 * Every benchmark, or those that are named. Prints one table, or with `--json` one JSON object. Exits 0 whatever
 * was measured; with `--check`, 1 when a target was missed beyond doubt. A benchmark that could not be run is an
 * exit of 1, too, but does not keep the others from being reported; wrong usage is 2.
 */

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism, loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { judge, renderReport, type Finding } from './report.ts'
import { ROWS, type BenchmarkName } from './rows.ts'
import type { WorkerAnswer, WorkerRequest } from './worker.ts'

const NAMES = [...new Set(ROWS.map(({ benchmark }) => benchmark))]

const NOTE = `
The contenders took turns. A ratio compares their medians; in parentheses is where nine of ten repetitions would put
it. On a busy machine trust the ratios, not the times; a verdict with a question mark needs more rounds (--rounds).`

/** Run one benchmark in a process of its own; its rows, or nothing when it could not be run. */
async function measure(name: BenchmarkName, rounds: number | undefined): Promise<Finding[]> {
  const worker = fork(fileURLToPath(new URL('./worker.ts', import.meta.url)), {
    execArgv: ['--expose-gc'],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  worker.send({ name, options: { rounds } } satisfies WorkerRequest)
  let answer: WorkerAnswer | undefined
  worker.once('message', (message) => (answer = message as WorkerAnswer))
  const [code] = (await once(worker, 'exit')) as [number | null]
  const measured = answer
  if (measured === undefined) {
    process.stderr.write(`the benchmark ${name} ended with ${code} and without a result\n`)
    process.exitCode = 1
    return []
  }
  return ROWS.filter(({ benchmark }) => benchmark === name).map((row) => judge(row, measured[row.id]!))
}

function refuse(reason: string): never {
  process.stderr.write(`${reason}\n`)
  process.exit(2)
}

const { values, positionals } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    check: { type: 'boolean', default: false },
    rounds: { type: 'string' },
  },
  allowPositionals: true,
})
const unknown = positionals.filter((name) => !NAMES.some((known) => known === name))
if (unknown.length > 0) refuse(`no benchmark ${unknown.join(', ')}; there are ${NAMES.join(', ')}`)
const rounds = values.rounds === undefined ? undefined : Number(values.rounds)
if (rounds !== undefined && !(Number.isInteger(rounds) && rounds > 0))
  refuse('--rounds takes a whole number from 1')

const load = () => loadavg()[0]!
const before = load()
const findings: Finding[] = []
for (const name of NAMES.filter((known) => positionals.length === 0 || positionals.includes(known))) {
  process.stderr.write(`${name} …\n`)
  findings.push(...(await measure(name, rounds)))
}
const machine = {
  date: new Date().toISOString(),
  node: process.version,
  platform: process.platform,
  cores: availableParallelism(),
  load: [before, load()].map((value) => Number(value.toFixed(1))),
}

if (values.json) {
  console.log(JSON.stringify({ ...machine, findings }, undefined, 2))
} else {
  const { date, node, platform, cores } = machine
  console.log(`${date}, Node ${node}, ${platform}, ${cores} cores, load ${machine.load.join(' to ')}\n`)
  console.log(renderReport(findings))
  console.log(NOTE)
}
if (values.check && findings.some(({ verdict }) => verdict === 'over')) process.exitCode = 1
