import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { LineBudget } from '../../src/diagnostics/line-budget.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

it('100 lines in 10 s are written, and then how many were left out', () => {
  const budget = new LineBudget()
  const lines: string[] = []
  const write = (line: string) =>
    budget.spend(
      () => lines.push(line),
      (withheld) => lines.push(`${withheld} left out`),
    )
  for (let line = 0; line < 150; line++) write('line')
  expect(lines).toHaveLength(100)
  vi.advanceTimersByTime(10_001)
  write('later')
  expect(lines.slice(100)).toEqual(['50 left out', 'later'])
  vi.advanceTimersByTime(10_001)
  write('calm')
  expect(lines.slice(102)).toEqual(['calm'])
})
