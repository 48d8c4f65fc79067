/** The command line of `pnpm chaos`. */

import { parseArgs } from 'node:util'

/** What to run. */
export interface Arguments {
  /** Go on for this long; `undefined` for the defaults, once. */
  readonly seconds: number | undefined
  readonly seed: number
  /** Names of faults and campaigns; empty for all. */
  readonly only: readonly string[]
  readonly json: boolean
  readonly help: boolean
}

/** Thrown for a command line that says nothing sensible. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

function number(option: string, text: string, isValid: (value: number) => boolean, accepted: string): number {
  const value = Number(text)
  if (text.trim() === '' || !isValid(value)) throw new UsageError(`--${option} ${text}: expected ${accepted}`)
  return value
}

/**
 * Read the command line.
 *
 * @param names - what `--only` may name.
 * @throws {UsageError} with what is wrong and what is accepted.
 */
export function readArguments(args: readonly string[], names: readonly string[]): Arguments {
  const { values } = parse(args)
  const only = values.only ?? []
  const unknown = only.filter((name) => !names.includes(name))
  if (unknown.length > 0)
    throw new UsageError(`--only ${unknown.join(', ')}: there is no such fault; --help lists all`)
  const isPositive = (value: number) => Number.isFinite(value) && value > 0
  const isSeed = (value: number) => Number.isInteger(value) && value >= 0 && value < 2 ** 32
  return {
    seconds:
      values.seconds === undefined
        ? undefined
        : number('seconds', values.seconds, isPositive, 'a number of seconds'),
    seed: number('seed', values.seed ?? '1', isSeed, 'a whole number from 0 to 4294967295'),
    only,
    json: values.json ?? false,
    help: values.help ?? false,
  }
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        seconds: { type: 'string' },
        seed: { type: 'string' },
        only: { type: 'string', multiple: true },
        json: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}
