/**
 * `pnpm bench [name…] [--json] [--check] [--rounds N]`: what this client costs on top of the SDK, next to what the
 * published client costs.
 *
 * Every benchmark, or those that are named. Prints one table, or with `--json` one JSON object. Exits 0 whatever
 * was measured; with `--check`, 1 when a target was missed beyond doubt.
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

async function measure(name: BenchmarkName, rounds: number | undefined): Promise<Finding[]> {
  const worker = fork(fileURLToPath(new URL('./worker.ts', import.meta.url)), {
    execArgv: ['--expose-gc'],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  worker.send({ name, options: { rounds } } satisfies WorkerRequest)
  let answer: WorkerAnswer | undefined
  worker.once('message', (message) => (answer = message as WorkerAnswer))
  const [code] = (await once(worker, 'exit')) as [number | null]
  if (answer === undefined) throw new Error(`the benchmark ${name} ended with ${code} and without a result`)
  const measured = answer
  return ROWS.filter(({ benchmark }) => benchmark === name).map((row) => judge(row, measured[row.id]!))
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
const rounds = values.rounds === undefined ? undefined : Number(values.rounds)
if (unknown.length > 0) throw new Error(`no benchmark ${unknown.join(', ')}; there are ${NAMES.join(', ')}`)
if (rounds !== undefined && !(Number.isInteger(rounds) && rounds > 0))
  throw new Error('--rounds takes a whole number from 1')

const machine = {
  node: process.version,
  platform: process.platform,
  cores: availableParallelism(),
  loadBefore: loadavg()[0]!,
}
const findings: Finding[] = []
for (const name of NAMES.filter((known) => positionals.length === 0 || positionals.includes(known))) {
  process.stderr.write(`${name} …\n`)
  findings.push(...(await measure(name, rounds)))
}
const load = [machine.loadBefore, loadavg()[0]!].map((value) => value.toFixed(1)).join(' to ')

if (values.json) {
  console.log(
    JSON.stringify(
      { date: new Date().toISOString(), ...machine, loadAfter: loadavg()[0], findings },
      undefined,
      2,
    ),
  )
} else {
  console.log(`Node ${machine.node}, ${machine.platform}, ${machine.cores} cores, load ${load}\n`)
  console.log(renderReport(findings))
  console.log(
    '\nThe contenders took turns; a ratio compares their medians, and in parentheses is where nine of ten repetitions would put it. On a busy machine trust the ratios, not the times; a verdict with a question mark needs more rounds (--rounds).',
  )
}
if (values.check && findings.some(({ verdict }) => verdict === 'over')) process.exitCode = 1
