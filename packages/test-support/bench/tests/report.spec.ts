import { describe, expect, it } from 'vitest'
import { BENCHMARKS } from '../src/benchmarks.ts'
import { judge, renderReport } from '../src/report.ts'
import { ROWS, type Row } from '../src/rows.ts'

const row: Row = {
  id: 'a.time',
  benchmark: 'start',
  title: 'a thing',
  unit: 'ms',
  reference: 'the other thing',
  measure: 'ratio',
  limit: 1.1,
}
const ratio = (from: number, value: number, to: number) => ({ ours: value, ratio: { value, from, to } })

describe('a verdict', () => {
  it.each([
    ['ok', 1, 1.05, 1.1],
    ['ok?', 1, 1.05, 1.2],
    ['over?', 1, 1.15, 1.2],
    ['over', 1.11, 1.15, 1.2],
  ] as const)('is %s for a ratio between %d and %d that measured %d', (verdict, from, value, to) => {
    expect(judge(row, ratio(from, value, to)).verdict).toBe(verdict)
  })

  it('holds a value against the limit as it is', () => {
    const count: Row = { ...row, measure: 'value', limit: 2 }
    expect(judge(count, { ours: 2 }).verdict).toBe('ok')
    expect(judge(count, { ours: 3 }).verdict).toBe('over')
  })

  it('is not given without a limit', () => {
    const { limit: _, ...open } = row
    expect(judge(open, ratio(1, 2, 3)).verdict).toBeUndefined()
  })

  it('is refused when nothing was measured', () => {
    expect(() => judge(row, { ours: 1 })).toThrow('a.time')
  })
})

describe('a report', () => {
  it('shows the values, the ratio with its range, the target and the verdict', () => {
    const measured = {
      ...ratio(1, 1.05, 1.25),
      ours: 1234,
      reference: 98.76,
      upstream: 2000,
      upstreamRatio: { value: 1.7, from: 1, to: 2 },
    }
    const [, , line] = renderReport([judge(row, measured)]).split('\n')
    expect(line?.split(/ {2,}/u)).toEqual([
      'a thing',
      '1,234 ms',
      '98.8 ms',
      '2,000 ms (× 1.70)',
      '× 1.05 (1.00–1.25)',
      '≤ × 1.1',
      'ok?',
    ])
  })

  it('says what each reference is', () => {
    expect(renderReport([judge(row, ratio(1, 1, 1))])).toContain('a thing: the other thing')
  })
})

describe('the table of targets', () => {
  it('has a row for every benchmark, and no two rows of one id', () => {
    expect(new Set(ROWS.map(({ benchmark }) => benchmark))).toEqual(new Set(Object.keys(BENCHMARKS)))
    expect(new Set(ROWS.map(({ id }) => id)).size).toBe(ROWS.length)
  })
})
