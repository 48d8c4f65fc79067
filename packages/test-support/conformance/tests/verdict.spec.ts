import { describe, expect, it } from 'vitest'
import type { Expectation } from '../src/expected.ts'
import { DRIVER_CHECK, foldChecks, type Check, type CheckStatus } from '../src/results.ts'
import { renderTable } from '../src/table.ts'
import { judge, unknownScenarios, type Verdict } from '../src/verdict.ts'

const expectations: readonly Expectation[] = [
  { reason: 'not yet', failing: ['auth/a'] },
  { reason: 'no prompts', skipped: { headers: ['prompts'], skills: '*' } },
]

function verdict(scenario: string, checks: Record<string, CheckStatus>): Verdict {
  const list: Check[] = Object.entries(checks).map(([name, status]) => ({
    name,
    status,
    message: `about ${name}`,
  }))
  return judge({ scenario, checks: list, stderr: 'log' }, expectations)
}

describe('a scenario that must pass', () => {
  it('passes when every check does', () => {
    expect(verdict('tools', { a: 'SUCCESS', [DRIVER_CHECK]: 'SUCCESS' })).toMatchObject({
      standing: 'passed',
      problems: [],
    })
  })

  it.each(['FAILURE', 'WARNING'] as const)(
    'is unexpected with a %s, and says which check and why',
    (status) => {
      expect(verdict('tools', { a: 'SUCCESS', b: status })).toMatchObject({
        standing: 'UNEXPECTED',
        problems: ['b: about b'],
      })
    },
  )

  it('is unexpected with a check that was skipped without being allowed to', () => {
    expect(verdict('headers', { tools: 'SUCCESS', prompts: 'SKIPPED' }).standing).toBe('passed')
    expect(verdict('headers', { tools: 'SKIPPED', prompts: 'SKIPPED' }).problems).toEqual([
      'tools: was skipped: about tools',
    ])
    expect(verdict('tools', { prompts: 'SKIPPED' }).standing).toBe('UNEXPECTED')
  })

  it('is unexpected when a check is reached that is expected not to be', () => {
    expect(verdict('headers', { prompts: 'SUCCESS' }).standing).toBe('UNEXPECTED')
    expect(verdict('skills', { any: 'SUCCESS', [DRIVER_CHECK]: 'SUCCESS' }).problems).toHaveLength(1)
    expect(verdict('skills', { any: 'SKIPPED', [DRIVER_CHECK]: 'SUCCESS' }).standing).toBe('passed')
  })

  it('is unexpected when the driver did not complete, or when the suite checked nothing', () => {
    expect(verdict('tools', { a: 'SUCCESS', [DRIVER_CHECK]: 'FAILURE' }).standing).toBe('UNEXPECTED')
    expect(verdict('tools', { [DRIVER_CHECK]: 'SUCCESS' }).problems).toEqual(['the suite made no check'])
  })
})

describe('a scenario that is expected to fail', () => {
  it('may fail in any check', () => {
    expect(verdict('auth/a', { a: 'SUCCESS', b: 'FAILURE' }).standing).toBe('failed as expected')
  })

  it('is unexpected when it passes', () => {
    expect(verdict('auth/a', { a: 'SUCCESS' })).toMatchObject({ standing: 'UNEXPECTED' })
  })
})

it('names expectations about scenarios that the suite does not have', () => {
  expect(unknownScenarios(new Set(['auth/a', 'headers']), expectations)).toEqual(['skills'])
})

it('counts the worst outcome of a check that was made several times, and nothing that only informs', () => {
  const raw = (id: string, name: string, status: CheckStatus | 'INFO') => ({
    id,
    name,
    status,
    description: `${id} ${status}`,
  })
  const folded = foldChecks([
    raw('1', 'a', 'SUCCESS'),
    raw('2', 'a', 'FAILURE'),
    raw('3', 'a', 'SKIPPED'),
    raw('4', 'log', 'INFO'),
    raw('5', 'NotObserved', 'FAILURE'),
    raw('6', 'NotObserved', 'FAILURE'),
  ])
  expect(folded).toEqual([
    { name: 'a', status: 'FAILURE', message: '2 FAILURE' },
    { name: '5', status: 'FAILURE', message: '5 FAILURE' },
    { name: '6', status: 'FAILURE', message: '6 FAILURE' },
  ])
})

it('shows scenarios and checks as rows and runs as columns', () => {
  const first = [
    verdict('tools', { a: 'SUCCESS', [DRIVER_CHECK]: 'SUCCESS' }),
    verdict('auth/a', { a: 'FAILURE' }),
  ]
  const second = [
    verdict('tools', { a: 'WARNING', [DRIVER_CHECK]: 'FAILURE' }),
    verdict('skills', { s: 'SKIPPED' }),
  ]
  const reports = [
    { run: 'one', verdicts: first },
    { run: 'two', verdicts: second },
  ]
  expect(renderTable(reports, (scenario) => scenario !== 'auth/a')).toBe(
    [
      'scenario            one           two',
      '------------------  ------------  --------------',
      'tools               passed 1/1    UNEXPECTED 0/1',
      '  a                 ok            WARNING',
      '  driver completed  ok            FAILED',
      'auth/a              expected 0/1',
      'skills                            skipped',
      '  s                               skipped',
    ].join('\n'),
  )
})
