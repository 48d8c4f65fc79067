import { describe, expect, it } from 'vitest'
import { readArguments } from '../src/arguments.ts'

const read = (...args: string[]) => readArguments(args, ['one', 'two'])

describe('the command line', () => {
  it('has defaults', () => {
    expect(read()).toEqual({ seconds: undefined, seed: 1, only: [], json: false, help: false })
  })

  it('is read', () => {
    const args = ['--seconds', '2.5', '--seed', '7', '--only', 'one', '--only', 'two', '--json', '-h']
    expect(read(...args)).toEqual({ seconds: 2.5, seed: 7, only: ['one', 'two'], json: true, help: true })
  })

  it.each([
    [['--only', 'three'], '--only three: there is no such fault'],
    [['--seconds', '0'], '--seconds 0: expected a number of seconds'],
    [['--seconds', 'long'], '--seconds long: expected a number of seconds'],
    [['--seed', '1.5'], '--seed 1.5: expected a whole number'],
    [['--seed', ''], '--seed : expected a whole number'],
    [['--fast'], "Unknown option '--fast'"],
  ])('is refused with %j', (args, message) => {
    expect(() => read(...args)).toThrow(message)
  })
})
