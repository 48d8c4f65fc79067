import { expect, it } from 'vitest'
import { addLeaks, emptyRow, heapLimit, isGood, problemsOf, type Row } from '../src/row.ts'
import { renderTable } from '../src/table.ts'

const NOTHING = { processes: [], handles: [], listeners: [], timers: [] }
const row = (more: Partial<Row> = {}): Row => ({ ...emptyRow('one'), injected: 2, recovered: 2, ...more })

it('a row is good when everything came back and nothing is left', () => {
  expect(problemsOf(row())).toEqual([])
  expect(isGood(row())).toBe(true)
})

it.each(['processes', 'handles', 'listeners', 'timers'] as const)(
  'a row is not good when %s leaked',
  (kind) => {
    const leaky = row()
    addLeaks(leaky, { ...NOTHING, [kind]: ['this one'] })
    expect(problemsOf(leaky)).toEqual([`leaked (${kind}): this one`])
    expect(renderTable([leaky])).toMatch(/^one +2 +2 .* 1 .*FAILED$/mu)
  },
)

it('a row is not good when something did not come back', () => {
  expect(problemsOf(row({ recovered: 1 }))).toEqual(['1 of 2 did not recover'])
  expect(problemsOf(row({ recovered: 1, problems: ['why'] }))).toEqual(['why'])
})

it('a row is not good when the heap grew beyond its limit', () => {
  const limit = heapLimit(row())
  expect(isGood(row({ heapGrowth: limit }))).toBe(true)
  expect(isGood(row({ heapGrowth: limit + 1 }))).toBe(false)
})
