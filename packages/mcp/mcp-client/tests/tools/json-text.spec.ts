import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { jsonText } from '../../src/tools/json-text.ts'
import { turnsDuring } from './turns.ts'

describe('JSON written in turns', () => {
  it('is what JSON.stringify writes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ stringUnit: 'binary' }), async (value) => {
        expect(await jsonText(value)).toBe(JSON.stringify(value, undefined, 2))
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
