/**
 * `pnpm bench`: what this client costs on top of the SDK, next to what the published client costs. Each benchmark
 * runs in a process of its own; one that cannot be run does not keep the others from being reported.
 */

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism, loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import { helpText, readArguments, UsageError, type Arguments } from './arguments.ts'
import { judge, renderReport, type Finding } from './report.ts'
import { ROWS, type BenchmarkName } from './rows.ts'
import type { WorkerAnswer, WorkerRequest } from './worker.ts'

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

function readCommandLine(): Arguments {
  try {
    return readArguments(process.argv.slice(2))
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    process.stderr.write(`${error.message}\n`)
    process.exit(2)
  }
}

const { names, rounds, json, check, help } = readCommandLine()
if (help) {
  console.log(helpText())
  process.exit()
}

const load = () => loadavg()[0]!
const before = load()
const findings: Finding[] = []
for (const [index, name] of names.entries()) {
  process.stderr.write(`${index + 1} of ${names.length}: ${name} …\n`)
  findings.push(...(await measure(name, rounds)))
}
const machine = {
  date: new Date().toISOString(),
  node: process.version,
  platform: process.platform,
  cores: availableParallelism(),
  load: [before, load()].map((value) => Number(value.toFixed(1))),
}

if (json) {
  console.log(JSON.stringify({ ...machine, findings }, undefined, 2))
} else {
  const { date, node, platform, cores } = machine
  console.log(`${date}, Node ${node}, ${platform}, ${cores} cores, load ${machine.load.join(' to ')}\n`)
  console.log(renderReport(findings))
  console.log(NOTE)
}
if (check && findings.some(({ verdict }) => verdict === 'over')) process.exitCode = 1
