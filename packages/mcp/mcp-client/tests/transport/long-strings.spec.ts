import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { DEFAULT_LIMITS, liftStrings, LongStrings, StringLifter } from '../../src/transport/long-strings.ts'
import { turnsDuring } from '../tools/turns.ts'

/** Small, so that a test can go through every way to cut a message. */
const LIMITS = { largeMessage: 40, longString: 10 }
const PLENTY = 1 << 30
const FILLER = 'x'.repeat(LIMITS.largeMessage)

/** Send lines through a lifter in chunks of a size. */
function lift(json: string, chunkBytes = 7, strings = new LongStrings(PLENTY)) {
  const lifter = new StringLifter(strings, LIMITS)
  const bytes = Buffer.from(json)
  const passed: Buffer[] = []
  for (let start = 0; start < bytes.length; start += chunkBytes) {
    passed.push(lifter.push(bytes.subarray(start, start + chunkBytes)))
  }
  passed.push(lifter.end())
  return { rest: Buffer.concat(passed).toString(), strings }
}

/** What a message is after it was taken apart and put together again. */
function roundTrip(json: string, chunkBytes?: number): unknown {
  const { rest, strings } = lift(json, chunkBytes)
  const message = JSON.parse(rest) as object
  strings.restore(message)
  expect(strings.size).toBe(0)
  return message
}

describe('a message that is not large', () => {
  it('passes byte for byte, however it is cut', () => {
    const lines = '{"a":"b\\"c"}\n\r\nnot JSON, "just\n": comment\n{"d"'
    for (let size = 1; size < lines.length; size++) expect(lift(lines, size).rest).toBe(lines)
  })

  it('passes with the long string that it holds', () => {
    const json = JSON.stringify({ text: 'x'.repeat(LIMITS.largeMessage - 12) })
    expect(json).toHaveLength(LIMITS.largeMessage - 1)
    expect(lift(json).rest).toBe(json)
    expect(lift(`${json} `).rest).not.toBe(`${json} `)
  })
})

describe('a large message', () => {
  it('loses its long strings on the way and has them back in the end', () => {
    const json = JSON.stringify({ long: FILLER, short: 'y', n: [1, null, { deep: FILLER }] })
    const { rest, strings } = lift(json)
    expect(rest).not.toContain(FILLER)
    expect(strings.size).toBe(2)
    expect(roundTrip(json)).toEqual(JSON.parse(json))
  })

  it('keeps the strings that are not long', () => {
    const json = JSON.stringify(Array.from({ length: 10 }, () => 'y'.repeat(LIMITS.longString - 1)))
    expect(lift(json).rest).toBe(json)
    expect(lift(JSON.stringify([FILLER, 'y'.repeat(LIMITS.longString)])).strings.size).toBe(2)
  })

  it('is what parsing it gives, whatever its strings hold, and however it is cut', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        '"',
        '\\',
        '\n',
        '\u0001',
        'é',
        '🙂',
        '\ud83d',
        '\ude42',
        '\\u',
        '\u2028',
        '/',
        'я',
        'abcdef',
      ),
      fc.string({ unit: 'binary', maxLength: 20 }),
    )
    const text = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(''))
    const value = fc.letrec((tie) => ({
      value: fc.oneof(
        text,
        fc.integer(),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(text, tie('value'), { maxKeys: 3 }),
      ),
    })).value
    fc.assert(
      fc.property(value, fc.integer({ min: 1, max: 300 }), fc.boolean(), (tree, chunkBytes, isAscii) => {
        const plain = JSON.stringify({ tree, filler: FILLER })
        const json = isAscii ? plain.replaceAll(/[\u007f-\uffff]/g, escapeUnit) : plain
        const line = Buffer.from(json).toString()
        expect(JSON.stringify(roundTrip(line, chunkBytes))).toBe(JSON.stringify(JSON.parse(line)))
      }),
      { numRuns: 500 },
    )
  })

  it('may be cut anywhere in an escape or a character', () => {
    const text = `${'\\"\n\u0007🙂é'.repeat(4)}${FILLER}`
    const json = JSON.stringify([text]).replaceAll('\\n', '\\u000A')
    for (let size = 1; size < json.length; size++) expect(roundTrip(json, size)).toEqual([text])
  })

  it('may have names that are prototypes, and long names among short ones', () => {
    const json = `{"__proto__":"${FILLER}","b":1,"${FILLER}":{"__proto__":2},"c":3}`
    const message = roundTrip(json) as Record<string, unknown>
    expect(Object.keys(message)).toEqual(['__proto__', 'b', FILLER, 'c'])
    expect(JSON.stringify(message)).toBe(json)
  })

  it('is followed by others on the same stream', () => {
    const lines = [[FILLER], ['small'], [FILLER, 1], []].map((line) => JSON.stringify(line))
    const { rest, strings } = lift(lines.join('\n'))
    const messages = rest.split('\n').map((line) => JSON.parse(line) as object)
    for (const message of messages) strings.restore(message)
    expect(messages.map((message) => JSON.stringify(message))).toEqual(lines)
  })

  it('that breaks off within a string does not spoil the next one', () => {
    const { rest, strings } = lift(`["${FILLER}\n{"a":"b"}\n["${FILLER}"]`)
    const [, small, large] = rest.split('\n')
    expect(small).toBe('{"a":"b"}')
    const message = JSON.parse(large!) as object
    strings.restore(message)
    expect(message).toEqual([FILLER])
  })

  it.each([
    ['a control character', `"${'\u0001'.repeat(LIMITS.largeMessage)}"`],
    ['an escape that is none', `"${FILLER}\\q${FILLER}"`],
    ['an escape that is cut short', `"${FILLER}\\u12"`],
    ['no end', `"${FILLER}`],
    ['no end, and not long', `"x" ${' '.repeat(LIMITS.largeMessage)}"abc`],
    ['a line feed in a string', `"${FILLER}\n"`],
  ])('is invalid with %s, as it would be as a whole', (_, json) => {
    expect(() => JSON.parse(json) as unknown).toThrow(SyntaxError)
    for (const chunkBytes of [7, 1000]) {
      expect(() => JSON.parse(lift(json, chunkBytes).rest) as unknown).toThrow(SyntaxError)
    }
  })

  it('is measured as it came', () => {
    const lifter = new StringLifter(new LongStrings(PLENTY), LIMITS)
    lifter.push(Buffer.from('12345\n123'))
    expect(lifter.lineBytes).toBe(3)
    lifter.push(Buffer.from('4567\n'))
    expect(lifter.lineBytes).toBe(0)
    lifter.push(Buffer.from(`"${FILLER}`))
    lifter.push(Buffer.from('"1'))
    expect(lifter.lineBytes).toBe(LIMITS.largeMessage + 3)
  })

  it('may follow lines without number in one chunk', () => {
    const lines = '\n'.repeat(500_000)
    const lifter = new StringLifter(new LongStrings(PLENTY))
    expect(lifter.push(Buffer.from(`${lines}"a`)).length).toBe(lines.length)
    expect(lifter.push(Buffer.from(`"${lines.repeat(3)}`)).length).toBe(3 * lines.length + 3)
  })

  it('is passed on where its line ends at a carriage return, when that is one', () => {
    const strings = new LongStrings(PLENTY)
    const lifter = new StringLifter(strings, LIMITS, true)
    expect(lifter.push(Buffer.from('"small"\r"on')).toString()).toBe('"small"\r')
    expect(lifter.push(Buffer.from('e"\r\n')).toString()).toBe('"one"\r\n')
    for (const end of ['\r', '\n', '\r\n']) {
      const message = JSON.parse(lifter.push(Buffer.from(`["${FILLER}"]${end}`)).toString()) as object
      strings.restore(message)
      expect(message).toEqual([FILLER])
    }
  })

  it('may hold tens of thousands of long strings', () => {
    const text = 'x'.repeat(DEFAULT_LIMITS.longString)
    const json = JSON.stringify(Array.from({ length: 20_000 }, (_, index) => ({ text: text + index })))
    const strings = new LongStrings(PLENTY)
    const rest = new StringLifter(strings).push(Buffer.from(`${json}\n`)).toString()
    expect(strings.size).toBe(20_000)
    expect(rest.length).toBeLessThan(json.length / 4)
    const message = JSON.parse(rest) as object
    strings.restore(message)
    expect(strings.size).toBe(0)
    expect(JSON.stringify(message) === json).toBe(true)
  })

  it('is one of a megabyte, and a long string one of 512 bytes, unless told otherwise', () => {
    const pass = (json: string) =>
      new StringLifter(new LongStrings(PLENTY)).push(Buffer.from(`${json}\n`)).toString()
    const short = 'x'.repeat(DEFAULT_LIMITS.longString - 1)
    const filler = [1, 'y'.repeat(DEFAULT_LIMITS.largeMessage)]
    const below = JSON.stringify('y'.repeat(DEFAULT_LIMITS.largeMessage - 3))
    expect(below).toHaveLength(DEFAULT_LIMITS.largeMessage - 1)
    expect(pass(below) === `${below}\n`).toBe(true)
    expect(pass(`${below} `).length).toBeLessThan(100)
    expect(pass(JSON.stringify([short, ...filler]))).toContain(short)
    expect(pass(JSON.stringify([`${short}x`, ...filler]))).not.toContain(short)
  })
})

describe('what is kept of a stream', () => {
  it('is bounded: of messages that nobody asks for, the oldest go', () => {
    const strings = new LongStrings(3 * FILLER.length)
    const lifter = new StringLifter(strings, LIMITS)
    const lines = Array.from({ length: 5 }, () => lifter.push(Buffer.from(`["${FILLER}"]\n`)).toString())
    expect(strings.size).toBe(3)
    const restore = (line: string) => {
      const message = JSON.parse(line) as object
      strings.restore(message)
      return message
    }
    expect(() => restore(lines[1]!)).toThrow('a long string of the message was dropped')
    expect(restore(lines[2]!)).toEqual([FILLER])
    expect(strings.size).toBe(2)
  })

  it('is bounded by what that stream sent, the oldest of all strings or not', () => {
    const strings = new LongStrings(FILLER.length)
    const other = lift(`["${FILLER}"]`, 7, strings)
    const lifter = new StringLifter(strings, LIMITS)
    const lines = [1, 2].map(() => lifter.push(Buffer.from(`["${FILLER}"]\n`)).toString())
    const restore = (line: string) => strings.restore(JSON.parse(line) as object)
    expect(() => restore(lines[0]!)).toThrow('a long string of the message was dropped')
    restore(lines[1]!)
    restore(other.rest)
    expect(strings.size).toBe(0)
  })

  it('does not count what another stream holds', () => {
    const strings = new LongStrings(FILLER.length)
    const [one, other] = [lift(`["${FILLER}"]`, 7, strings), lift(`["${FILLER}"]`, 7, strings)]
    for (const { rest } of [one, other]) {
      const message = JSON.parse(rest) as object
      strings.restore(message)
      expect(message).toEqual([FILLER])
    }
  })

  it('is forgotten some time after the stream ended', () => {
    vi.useFakeTimers()
    const strings = new LongStrings(PLENTY)
    lift(`["${FILLER}"]`, 7, strings)
    vi.advanceTimersByTime(10_000)
    lift(`["${FILLER}"]`, 7, strings)
    expect(strings.size).toBe(2)
    vi.advanceTimersByTime(1)
    lift(`["${FILLER}"]`, 7, strings)
    expect(strings.size).toBe(2)
    vi.useRealTimers()
  })

  it('is forgotten some time after its reader left', async () => {
    vi.useFakeTimers()
    const strings = new LongStrings(PLENTY)
    const long = `["${'x'.repeat(DEFAULT_LIMITS.largeMessage)}",`
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(Buffer.from(long)),
    })
    const reader = liftStrings(new Response(body), strings).body!.getReader()
    await reader.read()
    await reader.cancel()
    const { size } = strings
    vi.advanceTimersByTime(10_001)
    lift(`["${FILLER}"]`, 7, strings)
    expect([size > 0, strings.size]).toEqual([true, 1])
    vi.useRealTimers()
  })

  it('cannot be asked for by a server', () => {
    const { rest, strings } = lift(`["${FILLER}"]`)
    const [mark] = JSON.parse(rest) as [string]
    const other = new LongStrings(PLENTY)
    lift(`["${FILLER}"]`, 7, other)
    const forged = [mark, mark.replace(/.$/, '7')]
    other.restore(forged)
    expect(forged).toEqual([mark, mark.replace(/.$/, '7')])
    expect(strings.size).toBe(1)
  })
})

describe('a response', () => {
  it('has its status, its headers and its messages', async () => {
    const strings = new LongStrings(PLENTY)
    const long = 'x'.repeat(DEFAULT_LIMITS.largeMessage)
    const json = JSON.stringify({ a: long })
    const response = liftStrings(new Response(json, { status: 201, headers: { 'x-a': 'b' } }), strings)
    expect([response.status, response.headers.get('x-a')]).toEqual([201, 'b'])
    const message = (await response.json()) as object
    expect(strings.size).toBe(1)
    strings.restore(message)
    expect(strings.size).toBe(0)
    expect(JSON.stringify(message) === json).toBe(true)
  })

  it('is looked at in turns when it is long, however fast it comes', async () => {
    const chunk = Buffer.from(`"${'x'.repeat(1 << 16)}",`)
    const body = ReadableStream.from(Array.from({ length: 80 }, () => chunk))
    const read = () => liftStrings(new Response(body), new LongStrings(PLENTY)).text()
    expect(await turnsDuring(read)).toBeGreaterThan(10)
  })

  it('may have no body', () => {
    const response = new Response(null, { status: 204 })
    expect(liftStrings(response, new LongStrings(PLENTY))).toBe(response)
  })

  it('may be left by its reader, which ends the answer', async () => {
    const cancel = vi.fn()
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(Buffer.from('{"a":1}\n')),
      cancel,
    })
    const reader = liftStrings(new Response(body), new LongStrings(PLENTY)).body!.getReader()
    await reader.read()
    await reader.cancel()
    expect(cancel).toHaveBeenCalledTimes(1)
  })

  it('that breaks off is an error to its reader', async () => {
    const body = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error('cut')) })
    await expect(liftStrings(new Response(body), new LongStrings(PLENTY)).text()).rejects.toThrow('cut')
  })
})

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}
