import { describe, expect, it } from 'vitest'
import { interleave, median, quantile, ratioOf } from '../src/rounds.ts'

describe('rounds', () => {
  it('measure every contender once each, in another order each time', async () => {
    const order: string[] = []
    const contender = (name: string) => async () => order.push(name)
    const samples = await interleave(
      { a: contender('a'), b: contender('b'), c: contender('c') },
      { rounds: 6, warmup: 0 },
    )
    expect(order.join('')).toBe('abccbabcaacbcabbac')
    expect(samples.a).toEqual([1, 6, 9, 10, 14, 17])
  })

  it('do not count while they warm up', async () => {
    let count = 0
    const samples = await interleave({ a: async () => ++count }, { rounds: 2, warmup: 3 })
    expect(samples.a).toEqual([4, 5])
  })
})

describe('a median', () => {
  it('is the middle one, or between the middle two', () => {
    expect(median([3, 1, 2])).toBe(2)
    expect(median([4, 1, 2, 3])).toBe(2.5)
    expect(quantile([0, 10], 0.25)).toBe(2.5)
  })

  it('needs values', () => {
    expect(() => median([])).toThrow(RangeError)
  })
})

describe('a ratio', () => {
  it('compares medians, and is certain when every round says the same', () => {
    expect(ratioOf([2, 4, 6], [1, 2, 3])).toMatchObject({ value: 2 })
    expect(ratioOf([3, 3, 3], [2, 2, 2])).toEqual({ value: 1.5, from: 1.5, to: 1.5 })
  })

  it('is less certain when they do not', () => {
    const { value, from, to } = ratioOf([1, 1, 9, 9, 2], [1, 1, 1, 1, 1])
    expect(value).toBe(2)
    expect(from).toBeLessThan(value)
    expect(to).toBeGreaterThan(value)
  })
})
