/**
 * Measuring on a machine that is not quiet: contenders take turns, and what is told is how they compare, and how
 * sure that is.
 *
 * Invariant: each round measures every contender once, right after one another, in an order in which everyone comes
 * first and last, and after everyone else, equally often; garbage of the one before is collected first. So neither a
 * change of the load, nor the place in the order, nor what somebody left behind favours one.
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

/** How often the rounds are drawn anew to see how much a ratio depends on which there were. */
const DRAWS = 2000

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
    for (const name of orderOf(names, round + warmup)) {
      globalThis.gc?.()
      const sample = await contenders[name]()
      if (round >= 0) samples[name].push(sample)
    }
  }
  return samples
}

/** Rotated by one every other round, and reversed in between. */
function orderOf<Name>(names: readonly Name[], round: number): Name[] {
  const first = Math.floor(round / 2) % names.length
  const rotated = [...names.slice(first), ...names.slice(0, first)]
  return round % 2 === 0 ? rotated : rotated.toReversed()
}

/** The value that stands in the given place (0 to 1) of the sorted values; between two it is interpolated. */
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

/**
 * The ratio of the medians of two contenders, and where it would lie in nine of ten repetitions (a bootstrap over
 * the rounds).
 */
export function ratioOf(values: readonly number[], references: readonly number[]): Ratio {
  const drawn = Array.from({ length: DRAWS }, () => {
    const rounds = values.map(() => Math.floor(Math.random() * values.length))
    return median(rounds.map((round) => values[round]!)) / median(rounds.map((round) => references[round]!))
  })
  return {
    value: median(values) / median(references),
    from: quantile(drawn, 0.05),
    to: quantile(drawn, 0.95),
  }
}

/** What a row says of contenders that were measured against a reference. */
export function compare({ ours, reference, upstream }: Samples<'ours' | 'reference' | 'upstream'>): Measured {
  return {
    ours: median(ours),
    reference: median(reference),
    upstream: median(upstream),
    ratio: ratioOf(ours, reference),
    upstreamRatio: ratioOf(upstream, reference),
  }
}
