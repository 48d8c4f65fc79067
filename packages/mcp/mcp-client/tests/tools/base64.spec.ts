import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeCanonical, decodedBytes } from '../../src/tools/base64.ts'
import { turnsDuring } from './turns.ts'

describe('the size of base64 data', () => {
  it('is that of the bytes it stands for', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(decodedBytes(Buffer.from(bytes).toString('base64'))).toBe(bytes.length)
      }),
    )
  })

  it('is never negative', () => {
    expect(decodedBytes('==')).toBe(0)
    expect(decodedBytes('')).toBe(0)
  })
})

describe('canonical base64', () => {
  it('gives its bytes back', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 300 }), async (bytes) => {
        const decoded = await decodeCanonical(Buffer.from(bytes).toString('base64'))
        expect(decoded && Array.from(decoded)).toEqual(Array.from(bytes))
      }),
    )
  })

  it('is decoded in turns when it is long', async () => {
    const bytes = Buffer.alloc(2_000_001, 'every byte counts')
    let decoded: Uint8Array | undefined
    const turns = await turnsDuring(async () => {
      decoded = await decodeCanonical(bytes.toString('base64'))
    })
    expect(decoded && bytes.equals(decoded)).toBe(true)
    expect(turns).toBeGreaterThan(1)
  })

  it.each([
    ['nothing', ''],
    ['no padding', 'QUI'],
    ['characters that are none', 'QU!?'],
    ['a line break', 'QUJD\nQUJD\n\n\n'],
    ['the URL alphabet', 'QUI_QU-_'],
    ['padding that is not at the end', 'QQ==QQ=='],
    ['bits that are cut off', 'QR=='],
    ['padding alone', '===='],
    ['a flaw in a later turn', `${'A'.repeat(1 << 20)}QU*D`],
    ['padding at the end of a turn that is not the last', `${'A'.repeat((1 << 20) - 4)}QQ==QUJD`],
  ])('is not: %s', async (_, text) => {
    expect(await decodeCanonical(text)).toBeUndefined()
  })
})
