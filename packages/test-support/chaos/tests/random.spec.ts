import { expect, it } from 'vitest'
import { createRandom } from '../src/random.ts'

const draw = (seed: number) => {
  const random = createRandom(seed)
  const fork = random.fork()
  return [random.below(1000), random.pick(['a', 'b', 'c']), random.shuffle([1, 2, 3, 4, 5]), fork.below(1000)]
}

it('the same seed draws the same, another one draws something else', () => {
  expect(draw(5)).toEqual(draw(5))
  expect(draw(5)).not.toEqual(draw(6))
})

it('what is shuffled stays whole', () => {
  expect(new Set(createRandom(1).shuffle([1, 2, 3, 4, 5]))).toEqual(new Set([1, 2, 3, 4, 5]))
})

it('a number is below its bound, and each is drawn', () => {
  const random = createRandom(1)
  const drawn = new Set(Array.from({ length: 1000 }, () => random.below(4)))
  expect(drawn).toEqual(new Set([0, 1, 2, 3]))
})

it('there is nothing to pick from an empty list', () => {
  expect(() => createRandom(1).pick([])).toThrow('nothing to pick from')
})
