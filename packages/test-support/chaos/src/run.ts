/**
 * `pnpm chaos`: every fault and every campaign against the plugin in the real host.
 *
 * Exits 0 when everything recovered and nothing leaked, 1 otherwise, 2 for a wrong command line. Needs
 * `--expose-gc`, and Linux for `/proc`.
 */

import { getEventListeners, setMaxListeners } from 'node:events'
import { readArguments, UsageError, type Arguments } from './arguments.ts'
import { campaigns } from './campaigns/index.ts'
import type { Campaign } from './campaigns/types.ts'
import { faults, type Fault } from './faults/index.ts'
import { inject } from './inject.ts'
import { heapInUse, openLedger } from './ledger.ts'
import { createRandom, type Random } from './random.ts'
import { addLeaks, emptyRow, isGood, problemsOf, type Row } from './row.ts'
import { renderTable } from './table.ts'

/** How often each fault is met by default: once to warm up, and once to measure what stays. */
const DEFAULT_ROUNDS = 2

/** How much of a campaign one round of a timed run has. */
const SLICE = 0.1

const HELP = `pnpm chaos [--seconds N] [--seed S] [--only NAME]… [--json]

Runs servers that misbehave, one fault each, against the plugin in the real host, and prints what came of it.

  --seconds N   go round for N seconds, at least once; default: each fault twice, each campaign in full
  --seed S      what everything is chosen by, a whole number; default 1
  --only NAME   only this fault or campaign; can be repeated
  --json        print JSON

Campaigns:
${campaigns.map(({ name, does, defaultTimes }) => `  ${name.padEnd(24)} servers that ${does}, ${defaultTimes} times`).join('\n')}

Faults:
${faults.map(({ name, does }) => `  ${name.padEnd(24)} a server that ${does}`).join('\n')}
`

const note = (text: string) => void process.stderr.write(`${text}\n`)

/** One run, with its rows. */
class Run {
  readonly rows: Row[]
  /** The caller's cancellation, for every call of the run. */
  readonly #caller = new AbortController()
  readonly #random: Random
  readonly #faults: readonly Fault[]
  readonly #campaigns: readonly Campaign[]

  constructor({ seed, only }: Arguments) {
    const isWanted = ({ name }: { name: string }) => only.length === 0 || only.includes(name)
    setMaxListeners(0, this.#caller.signal)
    this.#random = createRandom(seed)
    this.#faults = faults.filter(isWanted)
    this.#campaigns = campaigns.filter(isWanted)
    this.rows = [...this.#campaigns, ...this.#faults].map(({ name }) => emptyRow(name))
  }

  /** Meet every fault once. */
  async round(number: number): Promise<void> {
    for (const fault of this.#random.shuffle(this.#faults)) {
      const row = this.#row(fault.name)
      const heap = row.injected === 0 ? undefined : await heapInUse()
      const problems = await this.#watch(row, async () => {
        const outcome = await inject(fault, this.#random.fork(), this.#caller.signal)
        row.worstMs = Math.max(row.worstMs, outcome.recoveryMs)
        return outcome.problems
      })
      row.injected++
      if (problems.length === 0) row.recovered++
      row.problems.push(...problems)
      if (heap !== undefined) row.heapGrowth += (await heapInUse()) - heap
      note(`${number}  ${problems.length === 0 ? 'ok    ' : 'FAILED'}  ${fault.name}`)
    }
  }

  /**
   * Run every campaign.
   *
   * @param part - how much of its default times.
   */
  async campaign(part: number): Promise<void> {
    for (const campaign of this.#campaigns) {
      const row = this.#row(campaign.name)
      const times = Math.ceil(campaign.defaultTimes * part)
      let done = 0
      await this.#watch(row, async () => {
        const tally = await campaign.run({
          times,
          random: this.#random.fork(),
          signal: this.#caller.signal,
          onProgress: () => {
            if (++done % 20 === 0) note(`${campaign.name}  ${done} of ${times}`)
          },
        })
        row.injected += tally.injected
        row.recovered += tally.recovered
        row.worstMs = Math.max(row.worstMs, tally.worstMs)
        row.heapGrowth += tally.heapGrowth
        row.problems.push(...tally.problems)
        return []
      })
    }
  }

  #row(name: string): Row {
    return this.rows.find((row) => row.name === name)!
  }

  /** Do something, and put what it leaves behind into the row. */
  async #watch(row: Row, trouble: () => Promise<readonly string[]>): Promise<readonly string[]> {
    using ledger = openLedger()
    const problems = await trouble()
    addLeaks(row, await ledger.leaks())
    const attached = getEventListeners(this.#caller.signal, 'abort').length
    if (attached > 0) row.leaks.listeners.push(`${attached} on the caller's signal`)
    return problems
  }
}

async function main(args: Arguments): Promise<void> {
  const run = new Run(args)
  const startedAt = performance.now()
  const isTime = () => performance.now() - startedAt < (args.seconds ?? 0) * 1000
  // What nobody awaits must not end the run without a report.
  const stray: string[] = []
  process.on('unhandledRejection', (reason) => {
    stray.push(`nobody handled: ${reason instanceof Error ? reason.stack : String(reason)}`)
  })
  note(`seed ${args.seed}`)
  if (args.seconds === undefined) {
    for (let number = 1; number <= DEFAULT_ROUNDS; number++) await run.round(number)
    await run.campaign(1)
  } else {
    for (let number = 1; number === 1 || isTime(); number++) {
      await run.round(number)
      await run.campaign(SLICE)
    }
  }
  const problems = [
    ...run.rows.flatMap((row) => problemsOf(row).map((problem) => `${row.name}: ${problem}`)),
    ...stray,
  ]
  const seconds = Math.round((performance.now() - startedAt) / 1000)
  if (args.json) {
    const rows = run.rows.map((row) => ({ ...row, ok: isGood(row), problems: problemsOf(row) }))
    process.stdout.write(
      `${JSON.stringify({ seed: args.seed, seconds, ok: problems.length === 0, rows, stray }, undefined, 2)}\n`,
    )
  } else {
    process.stdout.write(`${renderTable(run.rows)}\n\n`)
    for (const problem of problems) process.stdout.write(`${problem}\n`)
    const total = run.rows.reduce((sum, { injected }) => sum + injected, 0)
    process.stdout.write(
      `${total} faults in ${seconds} s, seed ${args.seed}: ${problems.length === 0 ? 'everything recovered, nothing leaked' : `${problems.length} problems`}\n`,
    )
  }
  process.exitCode = problems.length === 0 ? 0 : 1
}

try {
  const args = readArguments(
    process.argv.slice(2),
    [...campaigns, ...faults].map(({ name }) => name),
  )
  if (args.help) process.stdout.write(HELP)
  else await main(args)
} catch (error) {
  if (!(error instanceof UsageError)) throw error
  note(error.message)
  process.exitCode = 2
}
