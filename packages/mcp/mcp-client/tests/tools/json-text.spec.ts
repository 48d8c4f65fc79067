import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { INDENTED_LEVELS, jsonText, jsonTextNow } from '../../src/tools/json-text.ts'
import { turnsDuring } from './turns.ts'

describe('JSON written in turns', () => {
  it('is what JSON.stringify writes, and what is written at once', async () => {
    const json = fc.jsonValue({ stringUnit: 'binary', maxDepth: INDENTED_LEVELS })
    await fc.assert(
      fc.asyncProperty(json, async (value) => {
        expect(await jsonText(value)).toBe(JSON.stringify(value, undefined, 2))
        expect(jsonTextNow(value)).toBe(JSON.stringify(value, undefined, 2))
      }),
    )
  })

  it.each([
    ['nothing in it', {}],
    ['nothing in its list', { a: [] }],
    ['numbers for names', { 10: 'a', b: 1, 2: [1, [2, {}]] }],
    ['a name that is a prototype', JSON.parse('{"__proto__":{"a":1}}')],
  ])('is what JSON.stringify writes of a value with %s', async (_, value) => {
    expect(await jsonText(value)).toBe(JSON.stringify(value, undefined, 2))
  })

  it('cuts no character of a long string, wherever its turns end', async () => {
    for (let shift = 0; shift < 4; shift++) {
      const value = { text: 'x'.repeat(shift) + '🙂"\\\n'.repeat(60_000) }
      expect((await jsonText(value)) === JSON.stringify(value, undefined, 2)).toBe(true)
    }
    const lone = `${'x'.repeat(65_535)}\ud83d`
    expect((await jsonText(lone)) === JSON.stringify(lone)).toBe(true)
  })

  it('lets others have their turn', async () => {
    const value = Array.from({ length: 50_000 }, (_, index) => ({ index }))
    expect(await turnsDuring(() => jsonText(value))).toBeGreaterThan(10)
  })
})

describe('JSON that is nested deeply', () => {
  it('has a line for each item of the outer levels, and what is deeper on one line', async () => {
    const inner = { a: [1, { b: [] }], c: {}, d: '\n' }
    let value: unknown = [inner, 2]
    for (let level = 2; level < INDENTED_LEVELS; level++) value = { value }
    const text = JSON.stringify([value], undefined, 2)
    const expected = text.replace(/\{\s+"a"[^]*"\\n"\s+\}/, JSON.stringify(inner))
    expect(await jsonText([value])).toBe(expected)
    expect(jsonTextNow([value])).toBe(expected)
  })

  it('is as long as its content, whatever its nesting', async () => {
    const items = Array.from({ length: 10_000 }, (_, index) => index)
    let value: unknown = items
    for (let level = 1; level < 990; level++) value = [value]
    const text = await jsonText(value)
    expect(text.length).toBeLessThan(JSON.stringify(value).length + 1000)
    expect(JSON.parse(text)).toEqual(value)
    expect(jsonTextNow(value) === text).toBe(true)
  })
})
