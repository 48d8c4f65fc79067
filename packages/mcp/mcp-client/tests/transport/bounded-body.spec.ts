/** The bound of one message, wherever an answer is cut into chunks. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { boundedBody, isEventStream } from '../../src/transport/bounded-body.ts'

const LIMIT = 1000

class TooLarge extends Error {}

interface Read {
  readonly text: string
  readonly error: unknown
  readonly overflows: number
  readonly reads: number
}

/** Read a bounded answer whose body comes in these chunks. */
async function read(chunks: readonly string[], type: string | undefined, status = 200): Promise<Read> {
  const encoder = new TextEncoder()
  const body = ReadableStream.from(chunks.map((chunk) => encoder.encode(chunk)))
  const headers = type === undefined ? {} : { 'content-type': type }
  let overflows = 0
  let reads = 0
  const response = boundedBody(new Response(body, { status, headers }), LIMIT, {
    onData: () => void reads++,
    onOverflow: () => {
      overflows++
      return new TooLarge('too large')
    },
  })
  let text = ''
  try {
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) text += chunk
    return { text, error: undefined, overflows, reads }
  } catch (error) {
    return { text, error, overflows, reads }
  }
}

const events = async (...chunks: string[]) => await read(chunks, 'text/event-stream')

describe('a JSON body', () => {
  it('of exactly the limit passes as it is, and its arrival is told', async () => {
    const text = 'x'.repeat(LIMIT)
    const chunks = [text.slice(0, 10), text.slice(10)]
    expect(await read(chunks, 'application/json')).toEqual({ text, error: undefined, overflows: 0, reads: 2 })
  })

  it('of one byte more ends with the error', async () => {
    const { error, overflows } = await read(['x'.repeat(LIMIT), 'x'], 'application/json')
    expect(error).toBeInstanceOf(TooLarge)
    expect(overflows).toBe(1)
  })

  it('is counted whole, although there are blank lines in it', async () => {
    expect((await read(['\n\n'.repeat(LIMIT)], 'application/json')).error).toBeInstanceOf(TooLarge)
  })
})

describe('an event stream', () => {
  it.each(['\n\n', '\r\n\r\n', '\r\r', '\n\r\n', '\r\n\n'])(
    'starts counting anew after the blank line %j',
    async (blank) => {
      const event = `data: ${'x'.repeat(LIMIT - 100)}${blank}`
      expect(await events(event, event, event)).toMatchObject({ text: event.repeat(3), error: undefined })
    },
  )

  it('sees a blank line that is cut in two', async () => {
    const line = `data: ${'x'.repeat(LIMIT - 100)}\n`
    expect((await events(line, '\n', line, '\n', line, '\n')).error).toBeUndefined()
  })

  it('sees a blank line whose line end is cut in two', async () => {
    const line = `data: ${'x'.repeat(LIMIT - 100)}\r`
    expect((await events(line, '\n\r', '\n', line, '\n\r', '\n')).error).toBeUndefined()
  })

  it('does not take the end of a line for a blank line', async () => {
    const line = `data: ${'x'.repeat(LIMIT / 2)}`
    for (const end of ['\n', '\r', '\r\n']) {
      expect((await events(line + end, line + end)).error, JSON.stringify(end)).toBeInstanceOf(TooLarge)
    }
  })

  it('ends with the error when an event is too large, also where its end is in the same chunk', async () => {
    expect((await events(`data: ${'x'.repeat(LIMIT)}\n\ndata: 1\n\n`)).error).toBeInstanceOf(TooLarge)
  })

  it('gives the same verdict however it is cut', async () => {
    const piece = fc.constantFrom('\n', '\r', '\r\n', 'data: 1', 'x'.repeat(300), 'x'.repeat(600), '')
    const verdict = async (chunks: readonly string[]) => (await events(...chunks)).error !== undefined
    await fc.assert(
      fc.asyncProperty(
        fc.array(piece, { maxLength: 12 }),
        fc.array(fc.nat(2000), { maxLength: 8 }),
        async (pieces, cuts) => {
          const text = pieces.join('')
          const at = [
            0,
            ...cuts.map((cut) => Math.min(cut, text.length)).toSorted((a, b) => a - b),
            text.length,
          ]
          const chunks = at.slice(1).map((end, index) => text.slice(at[index], end))
          expect(await verdict(chunks.filter((chunk) => chunk !== ''))).toBe(await verdict([text]))
        },
      ),
    )
  })

  it('is one by its type, in any case and with parameters', () => {
    const typed = (type: string) => isEventStream(new Response('', { headers: { 'content-type': type } }))
    expect(typed('text/event-stream')).toBe(true)
    expect(typed('Text/Event-Stream; charset=utf-8')).toBe(true)
    expect(typed('application/json')).toBe(false)
    expect(isEventStream(new Response(null))).toBe(false)
  })
})

describe('the body of an error status', () => {
  it('is read to 64 KiB and no further, without an error', async () => {
    const chunk = 'y'.repeat(50_000)
    const { text, error, overflows } = await read(Array<string>(100).fill(chunk), 'text/html', 500)
    expect(text).toHaveLength(65_536)
    expect(error).toBeUndefined()
    expect(overflows).toBe(0)
  })

  it('is not taken for an event stream', async () => {
    expect((await read(['\n\n'.repeat(60_000)], 'text/event-stream', 500)).text).toHaveLength(65_536)
  })
})

describe('the rest of a response', () => {
  it('stays as it is', () => {
    const headers = { 'content-type': 'application/json', 'mcp-session-id': 'one' }
    const response = new Response('{}', { status: 201, statusText: 'Made', headers })
    const bounded = boundedBody(response, LIMIT, { onOverflow: () => new TooLarge() })
    expect(bounded.status).toBe(201)
    expect(bounded.statusText).toBe('Made')
    expect(bounded.headers.get('mcp-session-id')).toBe('one')
  })

  it('is the same one when there is no body', () => {
    const response = new Response(null, { status: 204 })
    expect(boundedBody(response, LIMIT, { onOverflow: () => new TooLarge() })).toBe(response)
  })

  it('needs nobody to be told of data', async () => {
    const bounded = boundedBody(new Response('text'), LIMIT, { onOverflow: () => new TooLarge() })
    expect(await bounded.text()).toBe('text')
  })
})
