import { expect, it } from 'vitest'
import { ListingPace } from '../../src/connection/listing-pace.ts'

it('lets a burst of ten listings pass, and then one a second', () => {
  const pace = new ListingPace(5000)
  expect(Array.from({ length: 10 }, () => pace.waitMs(5000))).toEqual(Array(10).fill(0))
  expect(pace.waitMs(5000)).toBe(1000)
  expect(pace.waitMs(6000)).toBe(1000)
  expect(pace.waitMs(7000)).toBe(1000)
})

it('lets the next burst pass after a while of calm, and no larger one', () => {
  const pace = new ListingPace(0)
  for (let listing = 0; listing < 10; listing++) pace.waitMs(0)
  expect(pace.waitMs(3500)).toBe(0)
  expect(pace.waitMs(3500)).toBe(0)
  expect(pace.waitMs(3500)).toBe(0)
  expect(pace.waitMs(3500)).toBe(500)
  expect(Array.from({ length: 10 }, () => pace.waitMs(1_000_000))).toEqual(Array(10).fill(0))
  expect(pace.waitMs(1_000_000)).toBe(1000)
})
