import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bytesWithin, LineSplitter } from '../../src/transport/line-splitter.ts'

function split(maxBytes: number, chunks: readonly (string | Buffer)[], isEnded = false) {
  const lines: string[] = []
  let overflows = 0
  const splitter = new LineSplitter(
    maxBytes,
    (line) => lines.push(line.toString('utf8')),
    () => overflows++,
  )
  for (const chunk of chunks) splitter.push(Buffer.from(chunk as string))
  if (isEnded) splitter.end()
  return { lines, overflows }
}

describe('a line splitter', () => {
  it('cuts lines out of one chunk, and keeps the rest for later', () => {
    expect(split(100, ['a\n\nb\nc'])).toEqual({ lines: ['a', '', 'b'], overflows: 0 })
  })

  it('joins a line that came in several chunks, whatever character it was cut in', () => {
    const bytes = Buffer.from('grün→\n')
    expect(
      split(
        100,
        [...bytes].map((byte) => Buffer.from([byte])),
      ).lines,
    ).toEqual(['grün→'])
  })

  it('reports what is left at the end as a line, and nothing when nothing is left', () => {
    expect(split(100, ['a\nb'], true).lines).toEqual(['a', 'b'])
    expect(split(100, ['a\n'], true).lines).toEqual(['a'])
    expect(split(100, [], true).lines).toEqual([])
  })

  it('drops a line over the limit, reports it once, and goes on with the next', () => {
    expect(split(3, ['abc\nabcd\nab\n'])).toEqual({ lines: ['abc', 'ab'], overflows: 1 })
    expect(split(3, ['ab', 'cd', 'ef', 'gh\n', 'ok\n'])).toEqual({ lines: ['ok'], overflows: 1 })
    expect(split(3, ['abcd'], true)).toEqual({ lines: [], overflows: 1 })
    expect(split(3, ['abcd\nabcd\n'])).toEqual({ lines: [], overflows: 2 })
  })

  it('reports the overflow when it happens, not when the line ends', () => {
    expect(split(3, ['abcd']).overflows).toBe(1)
  })

  it('finds the same lines however the stream is cut', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'ß', '\n', '\r', '😀'), maxLength: 40 })
    const cuts = fc.array(fc.nat({ max: 60 }), { maxLength: 10 })
    fc.assert(
      fc.property(text, cuts, fc.integer({ min: 1, max: 12 }), (whole, at, limit) => {
        const bytes = Buffer.from(whole)
        const bounds = [0, ...at.filter((cut) => cut < bytes.length).toSorted((a, b) => a - b), bytes.length]
        const chunks = bounds.slice(1).map((end, index) => bytes.subarray(bounds[index], end))
        expect(split(limit, chunks, true)).toEqual(split(limit, [bytes], true))
        const all = whole.split('\n')
        if (all.at(-1) === '') all.pop()
        const short = all.filter((line) => Buffer.byteLength(line) <= limit)
        expect(split(limit, chunks, true).lines).toEqual(short)
      }),
    )
  })
})

describe('what comes before a line that is too long', () => {
  it.each([
    ['is everything, when none is', 'abc\nabc', 0, 7],
    ['is everything, when each is as long as it may be', 'abcd\nabcd\nabcd', 0, 14],
    ['is nothing, when the first one is too long', 'abcde\nabc', 0, 0],
    ['is nothing, when the first one is with what came before', 'abc\nabc', 2, 0],
    ['is everything, when what came before just fits', 'ab\nabc\nabcd', 2, 11],
    ['is what precedes one in the middle', 'abc\n\nabcde\nabc', 1, 5],
    ['is what precedes one without an end', 'abc\nabcde', 0, 4],
  ])('%s', (_, text, pending, within) => {
    expect(bytesWithin(Buffer.from(text), pending, 4)).toBe(within)
  })
})
