/**
 * Measuring on a machine that is not quiet: contenders take turns, and only ratios within a round are trusted.
 *
 * Invariant: each round measures every contender once, right after one another, and the order rotates, so that
 * neither a change of the load nor the place in the order favours one.
 */

import type { Measured, Ratio } from './benchmark.ts'

/** One measurement of each contender and round, in the order of the rounds. */
export type Samples<Name extends string> = Readonly<Record<Name, readonly number[]>>

/** How often to measure. */
export interface RoundOptions {
  readonly rounds: number
  /** Rounds before the first that counts. Default 1. */
  readonly warmup?: number
}

/**
 * Measure contenders in turns.
 *
 * @param contenders - each takes one measurement and returns it.
 */
export async function interleave<Name extends string>(
  contenders: Readonly<Record<Name, () => Promise<number>>>,
  { rounds, warmup = 1 }: RoundOptions,
): Promise<Samples<Name>> {
  const names = Object.keys(contenders) as Name[]
  const samples = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>
  for (let round = -warmup; round < rounds; round++) {
    const first = (round + warmup) % names.length
    for (const name of [...names.slice(first), ...names.slice(0, first)]) {
      const sample = await contenders[name]()
      if (round >= 0) samples[name].push(sample)
    }
  }
  return samples
}

/** The value that stands in the given place of the sorted values; between two it is interpolated. */
export function quantile(values: readonly number[], place: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  const index = (sorted.length - 1) * place
  const below = sorted[Math.floor(index)]
  const above = sorted[Math.ceil(index)]
  if (below === undefined || above === undefined) throw new RangeError('no values')
  return below + (above - below) * (index - Math.floor(index))
}

/** The middle value. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

/** The ratio of two contenders, round by round. */
export function pairedRatio(values: readonly number[], references: readonly number[]): Ratio {
  const ratios = values.map((value, round) => value / references[round]!)
  return { median: median(ratios), from: quantile(ratios, 0.25), to: quantile(ratios, 0.75) }
}

/** What a row says of contenders that were measured against a reference. */
export function compare({ ours, reference, upstream }: Samples<'ours' | 'reference' | 'upstream'>): Measured {
  return {
    ours: median(ours),
    reference: median(reference),
    upstream: median(upstream),
    ratio: pairedRatio(ours, reference),
    upstreamRatio: pairedRatio(upstream, reference),
  }
}

/** How long something takes, in ms. */
export async function timed(run: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await run()
  return performance.now() - started
}
