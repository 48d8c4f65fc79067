import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { visibleText, visibleTextAsync, visibleTextPieces } from '../src/index.ts'
import { hostileText } from './arbitrary.ts'

const escaped = (character: string) => `\\u{${character.codePointAt(0)!.toString(16)}}`

/** Kept or escaped by what stands beside it. */
const CONTEXTUAL = new Set(['\t', '\n', '\r', '\u200c', '\u200d', '\ufe0e', '\ufe0f'])
/** The fixed set, said a second time: with the properties of Unicode instead of a written list. */
const FORBIDDEN =
  /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\u{fff9}-\u{fffb}\u{13430}-\u{1343f}]/v

const forbiddenIn = (text: string) => Array.from(text).filter((c) => !CONTEXTUAL.has(c) && FORBIDDEN.test(c))

describe('visibleText', () => {
  it('shows every forbidden code point of Unicode as its number, and no other', () => {
    const wrong: string[] = []
    for (let code = 0; code <= 0x10ffff; code++) {
      const character = String.fromCodePoint(code)
      const expected = FORBIDDEN.test(character) && !/[\t\n]/.test(character) ? escaped(character) : character
      if (visibleText(`a${character}b`) !== `a${expected}b`) wrong.push(escaped(character))
    }
    expect(wrong).toEqual([])
  })

  it.each([
    ['a terminal colour', '\x1b[31mred\x1b[0m', '\\u{1b}[31mred\\u{1b}[0m'],
    ['a terminal title', '\x1b]0;pwned\x07', '\\u{1b}]0;pwned\\u{7}'],
    ['an 8-bit CSI', '\x9b2J', '\\u{9b}2J'],
    ['a carriage return that overwrites a line', 'safe\rEVIL', 'safe\\u{d}EVIL'],
    ['a right-to-left override', 'gpj\u202e.exe', 'gpj\\u{202e}.exe'],
    ['a message in tag characters', 'hi\u{e0068}\u{e0069}', 'hi\\u{e0068}\\u{e0069}'],
    ['bytes in variation selectors', '😀\u{e0101}\u{fe00}', '😀\\u{e0101}\\u{fe00}'],
    ['a lone high surrogate', 'a\ud83d', 'a\\u{d83d}'],
    ['a lone low surrogate', '\ude00a', '\\u{de00}a'],
    ['surrogates in the wrong order', '\ude00\ud83d', '\\u{de00}\\u{d83d}'],
    ['a NUL', 'a\0b', 'a\\u{0}b'],
    ['a byte order mark', '\ufeffa', '\\u{feff}a'],
    ['a joiner between Latin letters', 'pay\u200dpal', 'pay\\u{200d}pal'],
    ['a second presentation selector', '❤\ufe0f\ufe0f', '❤\ufe0f\\u{fe0f}'],
    ['a selector on a letter', 'a\ufe0f', 'a\\u{fe0f}'],
    ['a selector on a digit that is no keycap', '1\ufe0f2', '1\\u{fe0f}2'],
    ['a joiner after an emoji at the end', '👩\u200d', '👩\\u{200d}'],
    ['two joiners between emoji', '👩\u200d\u200d👧', '👩\\u{200d}\\u{200d}👧'],
    ['a non-joiner between emoji', '👩\u200c👧', '👩\\u{200c}👧'],
    ['a run of joiners in Persian', 'می\u200c\u200d\u200cخ', 'می\\u{200c}\\u{200d}\\u{200c}خ'],
    ['a joiner next to an escaped mark', 'ᠠ\u180b\u200dᠠ', 'ᠠ\\u{180b}\\u{200d}ᠠ'],
    ['two joiners after a virama', 'ന്\u200d\u200d', 'ന്\u200d\\u{200d}'],
  ])('shows %s', (_, text, shown) => {
    expect(visibleText(text)).toBe(shown)
  })

  it.each([
    ['plain text with line breaks and tabs', 'a\tb\nc\r\nd'],
    ['letters of many scripts', 'Ünïcödé 中文 한국어 العربية עברית ไทย हिन्दी'],
    ['private use and combining characters', '\ue0b0 e\u0301'],
    ['a family', '👨\u200d👩\u200d👧\u200d👦'],
    ['a profession with a skin tone', '👩🏽\u200d💻'],
    ['a selector before a joiner', '🏳\ufe0f\u200d🌈 ❤\ufe0f\u200d🔥 🕵\ufe0f\u200d♂\ufe0f'],
    ['both presentations', '❤\ufe0e ❤\ufe0f ➡\ufe0f ↔\ufe0e ©\ufe0f ™\ufe0e'],
    ['keycaps', '1\ufe0f\u20e3 #\ufe0f\u20e3 *\ufe0e\u20e3'],
    ['flags of countries', '🇩🇪🇯🇵'],
    ['a Persian verb', 'می\u200cخواهم'],
    ['a Devanagari conjunct kept apart', 'क्\u200cष क्\u200dष'],
    ['a Malayalam chillu at the end of a word', 'അവന്\u200d പോയി'],
    ['a Mongolian word', 'ᠬᠠᠨ\u200dᠠ'],
    ['an escape that is already text', '\\u{200b}'],
  ])('keeps %s', (_, text) => {
    expect(visibleText(text)).toBe(text)
  })

  it('leaves nothing forbidden, nothing to do a second time, and no run of what it may keep', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        const shown = visibleText(text)
        expect(forbiddenIn(shown)).toEqual([])
        expect(shown).not.toMatch(/\r(?!\n)/)
        expect(shown).not.toMatch(
          /(?:\u200c|\u200d){2}|(?:\ufe0e|\ufe0f){2}|^(?:\u200c|\u200d|\ufe0e|\ufe0f)/,
        )
        expect(visibleText(shown)).toBe(shown)
      }),
      { numRuns: 2000 },
    )
  })

  it('loses nothing: undoing the escapes gives the source back', () => {
    fc.assert(
      fc.property(
        hostileText.filter((text) => !text.includes('\\u{')),
        (text) => {
          const undone = visibleText(text).replace(/\\u\{([0-9a-f]+)\}/g, (_, hex: string) =>
            String.fromCodePoint(Number.parseInt(hex, 16)),
          )
          expect(undone).toBe(text)
        },
      ),
    )
  })
})

describe('the forms for large text', () => {
  it('give the text of the synchronous form for every chunk size', async () => {
    await fc.assert(
      fc.asyncProperty(hostileText, fc.integer({ min: -1, max: 12 }), async (text, chunk) => {
        const shown = visibleText(text)
        expect([...visibleTextPieces(text, { chunk })].join('')).toBe(shown)
        expect(await visibleTextAsync(text, { chunk })).toBe(shown)
      }),
      { numRuns: 1000 },
    )
  })

  it('see a sequence whole, wherever it is cut', async () => {
    const text = '👩🏽\u200d💻🏳\ufe0f\u200d🌈 1\ufe0f\u20e3 می\u200cخ क्\u200d \r\n🕵🏽\u200d♂\ufe0f'
    for (let chunk = 1; chunk < text.length; chunk++) {
      expect([...visibleTextPieces(text, { chunk })].join('')).toBe(text)
      expect(await visibleTextAsync(text, { chunk })).toBe(text)
    }
  })

  it('never end a piece inside a surrogate pair', () => {
    expect([...visibleTextPieces('😀😀', { chunk: 1 })]).toEqual(['😀', '😀'])
  })

  it('let timers and other work run while they are at it', async () => {
    let turns = 0
    let over = false
    const count = () => {
      turns += 1
      if (!over) setImmediate(count)
    }
    setImmediate(count)
    const text = 'a\u200b'.repeat(50_000)
    const shown = await visibleTextAsync(text)
    over = true
    expect(shown).toBe(visibleText(text))
    expect(turns).toBeGreaterThan(5)
  })

  it('return megabytes of clean text as they came', async () => {
    const text = 'clean 文本\r\n'.repeat(100_000)
    expect(await visibleTextAsync(text)).toBe(text)
    expect(visibleText(text)).toBe(text)
    expect(await visibleTextAsync('')).toBe('')
  })
})
