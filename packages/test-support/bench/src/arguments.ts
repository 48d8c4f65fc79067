/** The command line of `pnpm bench`. */

import { parseArgs } from 'node:util'
import type { BenchmarkName } from './rows.ts'

/** What each benchmark measures, in the order of the report. */
export const SUBJECTS: Readonly<Record<BenchmarkName, string>> = {
  start: 'from nothing to the tools of one local server',
  'start-20': 'the same for twenty servers at once',
  call: 'one small tool call after the other',
  'list-change': 'one of 5,000 tools changes',
  burst: '10,000 announcements of a change at once',
  dispose: 'the end of a server that has a helper process',
  memory: 'what 5,000 registered tools hold',
  large: 'results of 20 to 30 MB, in one string or many, over both transports',
}

/** What to measure, and how to say it. */
export interface Arguments {
  /** In the order of the report; every benchmark when none is named. */
  readonly names: readonly BenchmarkName[]
  /** Rounds that count; `undefined` for the default of each benchmark. */
  readonly rounds: number | undefined
  readonly json: boolean
  readonly check: boolean
  readonly help: boolean
}

/** Thrown for a command line that says nothing sensible. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/**
 * Read the command line.
 *
 * @throws {UsageError} with what is wrong and what is accepted.
 */
export function readArguments(args: readonly string[]): Arguments {
  const { values, positionals } = parse(args)
  const all = Object.keys(SUBJECTS) as BenchmarkName[]
  const unknown = positionals.filter((name) => !Object.hasOwn(SUBJECTS, name))
  if (unknown.length > 0)
    throw new UsageError(`no benchmark ${unknown.join(', ')}; there are ${all.join(', ')}`)
  const rounds = values.rounds === undefined ? undefined : Number(values.rounds)
  if (rounds !== undefined && !(Number.isInteger(rounds) && rounds > 0)) {
    throw new UsageError(`--rounds ${values.rounds}: expected a whole number from 1`)
  }
  return {
    names: all.filter((name) => positionals.length === 0 || positionals.includes(name)),
    rounds,
    json: values.json ?? false,
    check: values.check ?? false,
    help: values.help ?? false,
  }
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        rounds: { type: 'string' },
        json: { type: 'boolean' },
        check: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
      allowPositionals: true,
    })
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

/** What `--help` prints. */
export function helpText(): string {
  const names = Object.entries(SUBJECTS).map(([name, subject]) => `  ${name.padEnd(13)}${subject}`)
  return `Usage: pnpm bench [options] [benchmark …]

What this client costs on top of the SDK, next to what the published client costs. All benchmarks take about a
quarter of an hour; nothing else should run meanwhile.

Benchmarks:
${names.join('\n')}

Options:
  --rounds N   rounds that count, from 1 (default: each benchmark has its own)
  --json       print one JSON object instead of the table
  --check      exit with 1 when a target was missed beyond doubt
  -h, --help   print this

Exit codes: 0 measured, 1 a benchmark could not be run (or, with --check, missed its target), 2 wrong usage.`
}
