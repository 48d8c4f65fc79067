import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  DEFAULT_EXCERPT_LENGTH,
  DEFAULT_LINE_LENGTH,
  visibleExcerpt,
  visibleLine,
  visibleText,
} from '../src/index.ts'
import { hostileText } from './arbitrary.ts'

describe('visibleLine', () => {
  it.each([
    ['a short line', 'connection refused', 'connection refused'],
    ['line breaks and tabs', 'a\nb\r\nc\td', 'a\\nb\\nc\\td'],
    ['terminal control', 'x\x1b[2J\ry', 'x\\u{1b}[2J\\u{d}y'],
    ['emoji and joiners that belong there', '👩\u200d💻 می\u200cخواهم', '👩\u200d💻 می\u200cخواهم'],
    ['nothing', '', ''],
  ])('shows %s', (_, text, line) => {
    expect(visibleLine(text)).toBe(line)
  })

  it('keeps a line of exactly the allowed length and cuts one that is longer', () => {
    expect(visibleLine('a'.repeat(200))).toBe('a'.repeat(200))
    expect(visibleLine('a'.repeat(201))).toBe(`${'a'.repeat(181)}… (+20 characters)`)
    expect(DEFAULT_LINE_LENGTH).toBe(200)
  })

  it('counts what is missing in characters of the source', () => {
    expect(visibleLine('\u200b'.repeat(40), 40)).toBe('\\u{200b}\\u{200b}… (+38 characters)')
  })

  it('cuts before a character that would not fit whole', () => {
    expect(visibleLine(`ab${'😀'.repeat(20)}`, 22)).toBe('ab😀… (+38 characters)')
    expect(visibleLine(`a${'😀'.repeat(20)}`, 22)).toBe('a😀… (+38 characters)')
  })

  it('does not leave a joiner or a keycap selector dangling at the cut', () => {
    expect(visibleLine(`👩\u200d${'👩'.repeat(20)}`, 22)).toBe('👩… (+41 characters)')
    expect(visibleLine(`12\ufe0f\u20e3${'a'.repeat(30)}`, 21)).toBe('12… (+32 characters)')
  })

  it('shows a bare ellipsis when the marker does not fit, and nothing in no space', () => {
    expect(visibleLine('a'.repeat(30), 10)).toBe('…')
    expect(visibleLine('a\n', 2)).toBe('…')
    expect(visibleLine('a', 0)).toBe('')
  })

  it('is one safe line within the length, for any text and length', () => {
    fc.assert(
      fc.property(hostileText, fc.integer({ min: 0, max: 120 }), (text, maxLength) => {
        const line = visibleLine(text, maxLength)
        expect(line.length).toBeLessThanOrEqual(maxLength)
        expect(line).not.toMatch(/[\n\r\t]/)
        expect(line.isWellFormed()).toBe(true)
        expect(visibleText(line)).toBe(line)
      }),
      { numRuns: 2000 },
    )
  })

  it('says how much of the source is missing', () => {
    fc.assert(
      fc.property(hostileText, fc.integer({ min: 20, max: 80 }), (text, maxLength) => {
        const line = visibleLine(text, maxLength)
        const missing = Number(/… \(\+(\d+) characters\)$/.exec(line)?.[1] ?? 0)
        const rest = line.replace(/… \(\+\d+ characters\)$/, '')
        expect(rest).toBe(visibleLine(text, 100_000).slice(0, rest.length))
        expect(missing).toBeLessThanOrEqual(text.length)
        expect(missing === 0).toBe(visibleLine(text, 100_000).length <= maxLength)
      }),
    )
  })

  it('does not read a huge text to the end', () => {
    expect(visibleLine('\n'.repeat(20_000_000), 40)).toBe(`${'\\n'.repeat(8)}… (+19999992 characters)`)
  })
})

describe('visibleExcerpt', () => {
  it('keeps line breaks and tabs and escapes the rest', () => {
    expect(visibleExcerpt('a\n\tb\r\nc\u200b\r')).toBe('a\n\tb\r\nc\\u{200b}\\u{d}')
  })

  it('cuts after its own default length', () => {
    expect(DEFAULT_EXCERPT_LENGTH).toBe(2000)
    expect(visibleExcerpt('a'.repeat(2000))).toBe('a'.repeat(2000))
    expect(visibleExcerpt('a'.repeat(2001))).toBe(`${'a'.repeat(1980)}… (+21 characters)`)
  })

  it('stays within the length and safe for any text', () => {
    fc.assert(
      fc.property(hostileText, fc.integer({ min: 0, max: 120 }), (text, maxLength) => {
        const excerpt = visibleExcerpt(text, maxLength)
        expect(excerpt.length).toBeLessThanOrEqual(maxLength)
        expect(visibleText(excerpt)).toBe(excerpt)
        expect(excerpt === visibleText(text)).toBe(visibleText(text).length <= maxLength)
      }),
      { numRuns: 1000 },
    )
  })
})
