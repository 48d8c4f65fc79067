import { expect, it } from 'vitest'
import { faults, inject, createRandom, type Expectation, type Fault } from '../src/index.ts'

const silentExit = faults.find(({ name }) => name === 'silent-exit')!

async function problemsWith(change: Partial<Expectation>, fault: Fault = silentExit): Promise<string> {
  const expected = { ...fault, expect: { ...fault.expect, ...change } }
  const { problems } = await inject(expected, createRandom(1), new AbortController().signal)
  return problems.join('\n')
}

it('a fault that comes to what it has to has no problems', async () => {
  expect(await problemsWith({})).toBe('')
})

it.each<[string, Partial<Expectation>, RegExp]>([
  [
    'a call that fails otherwise',
    { refusal: /otherwise/u },
    /^the call failed with .*which is not \/otherwise\/u$/mu,
  ],
  ['another reason', { error: /otherwise/u }, /^no status says \/otherwise\/u/mu],
  ['a line of the log that is not there', { log: /otherwise/u }, /^no line of the log says \/otherwise\/u/mu],
])('%s is a problem', { timeout: 120_000 }, async (_, change, problem) => {
  expect(await problemsWith(change)).toMatch(problem)
})

it('a loss of the connection that was not expected is a problem', async () => {
  const { isLost: _, ...rest } = silentExit.expect
  const { problems } = await inject(
    { ...silentExit, expect: rest },
    createRandom(1),
    new AbortController().signal,
  )
  expect(problems.join('\n')).toMatch(/^the connection was lost: /mu)
})

it('names are unique', () => {
  const names = faults.map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
})
