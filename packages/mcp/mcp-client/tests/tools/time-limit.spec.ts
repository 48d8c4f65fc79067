import { describe, expect, it } from 'vitest'
import { TimeLimitError, withTimeLimit } from '../../src/tools/time-limit.ts'

const GENEROUS_MS = 60_000

describe('a time limit', () => {
  it('passes on what the function returns', () => {
    const value = {}
    expect(withTimeLimit(GENEROUS_MS, () => value)).toBe(value)
  })

  it('passes on what the function throws', () => {
    const error = new TypeError('mine')
    const failing = () => {
      throw error
    }
    expect(() => withTimeLimit(GENEROUS_MS, failing)).toThrow(error)
  })

  it('passes on what is thrown without being an error', () => {
    let thrown: unknown = 'nothing'
    try {
      withTimeLimit(GENEROUS_MS, () => {
        // oxlint-disable-next-line typescript/only-throw-error -- others may throw anything
        throw undefined
      })
    } catch (error) {
      thrown = error
    }
    expect(thrown).toBeUndefined()
  })

  it('stops a loop', () => {
    const endless = () => {
      for (;;);
    }
    expect(() => withTimeLimit(20, endless)).toThrow(TimeLimitError)
    expect(() => withTimeLimit(20, endless)).toThrow('stopped after 20 ms')
  })

  it('stops a regular expression that backtracks for ever', () => {
    const catastrophic = /^(a+)+$/
    expect(() => withTimeLimit(20, () => catastrophic.test(`${'a'.repeat(80)}!`))).toThrow(TimeLimitError)
  })

  it('can be used within another one', () => {
    expect(withTimeLimit(GENEROUS_MS, () => withTimeLimit(GENEROUS_MS, () => 1) + 1)).toBe(2)
  })
})
