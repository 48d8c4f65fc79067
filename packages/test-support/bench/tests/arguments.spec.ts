import { describe, expect, it } from 'vitest'
import { helpText, readArguments, SUBJECTS } from '../src/arguments.ts'
import { BENCHMARKS } from '../src/benchmarks.ts'

describe('the command line', () => {
  it('asks for every benchmark by default', () => {
    expect(readArguments([])).toEqual({
      names: Object.keys(BENCHMARKS),
      rounds: undefined,
      json: false,
      check: false,
      help: false,
    })
  })

  it('is read, and the benchmarks keep the order of the report', () => {
    expect(readArguments(['large', '--rounds', '3', '--json', 'call', '--check', '-h'])).toEqual({
      names: ['call', 'large'],
      rounds: 3,
      json: true,
      check: true,
      help: true,
    })
  })

  it.each([
    [['calls'], 'no benchmark calls; there are start, start-20, call'],
    [['--rounds', '0'], '--rounds 0: expected a whole number from 1'],
    [['--rounds', 'many'], '--rounds many: expected a whole number from 1'],
    [['--fast'], "Unknown option '--fast'"],
  ])('is refused with %j', (args, message) => {
    expect(() => readArguments(args)).toThrow(message)
  })

  it('has a help that names everything', () => {
    for (const [name, subject] of Object.entries(SUBJECTS)) {
      expect(helpText()).toContain(name)
      expect(helpText()).toContain(subject)
    }
  })
})
