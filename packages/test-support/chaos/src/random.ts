/** Chance that can be repeated: every choice of a run comes from its seed. */

/** A source of choices. */
export interface Random {
  /** A whole number from 0 to `below` - 1. */
  below(below: number): number
  /** One of several. */
  pick<Item>(items: readonly Item[]): Item
  /** All of them, in another order. */
  shuffle<Item>(items: readonly Item[]): Item[]
  /** An independent source, so that what one part of a run draws does not change what another does. */
  fork(): Random
}

/** The source of a seed: mulberry32, which is small, fast, and good enough to choose a fault with. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const random: Random = {
    below: (below) => Math.floor(next() * below),
    pick: (items) => {
      const item = items[random.below(items.length)]
      if (item === undefined) throw new Error('nothing to pick from')
      return item
    },
    shuffle: (items) => {
      const left = [...items]
      return items.map(() => left.splice(random.below(left.length), 1)[0]!)
    },
    fork: () => createRandom(random.below(2 ** 32)),
  }
  return random
}
