/** What one listing may be: as many entries, bytes, levels and seconds as are said, and what happens beyond. */
import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import { afterEach, describe, expect, it, vi } from 'vitest'
import {
  Listing,
  ListingError,
  MAX_LIST_BYTES,
  MAX_LIST_ENTRIES,
  type ListKind,
} from '../../src/connection/listing.ts'
import { MAX_SCHEMA_DEPTH } from '../../src/tools/model-schema.ts'
import { noSecrets, secretsIn } from '../support.ts'

const TOKEN = 'sk-live-AbCdEf0123456789'
const ESCAPE = '\u{1b}[31m'

type Message = JSONRPCMessage & { result: Record<string, unknown> }

const message = (result: Record<string, unknown>): Message =>
  ({ jsonrpc: '2.0', id: 1, result }) as unknown as Message
const page = (tools: unknown): Message => message({ tools })
const tool = (name: string, more = {}) => ({ name, inputSchema: { type: 'object' }, ...more })
const tools = (count: number) => Array.from({ length: count }, (_, index) => tool(`t${index}`))

/** A value with so many levels of nesting. */
function nested(levels: number): unknown {
  let value: unknown = 1
  for (let level = 1; level < levels; level++) value = level % 2 === 0 ? { a: value } : [value]
  return value
}

/** Run a listing whose pages come as these messages. */
async function list(kind: ListKind, ...pages: Message[]) {
  const listing = new Listing(kind, true, secretsIn({ TOKEN }))
  const run = async (signal: AbortSignal) => {
    for (const each of pages) {
      listing.inspect(each)
      signal.throwIfAborted()
    }
    return 'done'
  }
  const outcome = await listing
    .collect(run, new AbortController().signal, 1000)
    .catch((error: unknown) => error)
  return { listing, outcome }
}

afterEach(() => {
  vi.useRealTimers()
})

describe('the number of entries', () => {
  it('may be as large as the limit, over all pages', async () => {
    const half = MAX_LIST_ENTRIES / 2
    const { outcome } = await list('tools', page(tools(half)), page(tools(half)))
    expect(outcome).toBe('done')
  })

  it('may not be larger, and the SDK does not get to see what is too much', async () => {
    const last = page(tools(MAX_LIST_ENTRIES))
    const { outcome } = await list('tools', page(tools(1)), last)
    expect(outcome).toEqual(
      new ListingError(`the server's list of tools has more than ${MAX_LIST_ENTRIES} entries`),
    )
    expect(last.result['tools']).toEqual([])
  })

  it('may not grow after the listing failed', async () => {
    const { listing } = await list('tools', page(tools(MAX_LIST_ENTRIES + 1)))
    const late = page(tools(1))
    listing.inspect(late)
    expect(late.result['tools']).toEqual([])
  })

  it('is bounded for resources, too', async () => {
    const resources = Array.from({ length: MAX_LIST_ENTRIES + 1 }, () => ({ uri: 'a:b', name: 'b' }))
    const { outcome } = await list('resources', message({ resources }))
    expect(outcome).toEqual(
      new ListingError(`the server's list of resources has more than ${MAX_LIST_ENTRIES} entries`),
    )
  })
})

describe('the size of a list', () => {
  const text = 'x'.repeat(MAX_LIST_BYTES / 4)

  it('may be as large as the limit', async () => {
    const { outcome } = await list(
      'tools',
      ...Array.from({ length: 3 }, () => page([tool('a', { description: text })])),
    )
    expect(outcome).toBe('done')
  })

  it('may not be larger, over all pages', async () => {
    const { outcome } = await list(
      'tools',
      ...Array.from({ length: 4 }, () => page([tool('a', { description: text })])),
    )
    expect(outcome).toEqual(
      new ListingError(`the server's list of tools has more than ${MAX_LIST_BYTES} bytes`),
    )
  })

  it('counts names, and what has no text', async () => {
    const many = { resourceTemplates: [{ [text]: 1 }, { [text]: [] }, { [text]: null }, { [text]: true }] }
    const { outcome } = await list('resourceTemplates', message(many))
    expect((outcome as Error).message).toContain("the server's list of resource templates has more than")
  })
})

describe('the time of a listing', () => {
  it('is bounded, over all pages', async () => {
    vi.useFakeTimers()
    const listing = new Listing('tools', true, noSecrets)
    const forever = (signal: AbortSignal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('aborted')))
      })
    const outcome = listing
      .collect(forever, new AbortController().signal, 5000)
      .catch((error: unknown) => error)
    vi.advanceTimersByTime(5000)
    expect(await outcome).toEqual(new ListingError("the server's list of tools took longer than 5000 ms"))
  })

  it('leaves no timer behind', async () => {
    vi.useFakeTimers()
    await list('tools', page(tools(1)))
    expect(vi.getTimerCount()).toBe(0)
  })

  it('ends from outside, too, with the reason that there is', async () => {
    const outside = AbortSignal.abort(new Error('closed'))
    const run = async (signal: AbortSignal) => signal.throwIfAborted()
    await expect(new Listing('tools', true, noSecrets).collect(run, outside, 1000)).rejects.toThrow('closed')
  })
})

describe('a message that is no page of the list', () => {
  it.each([
    ['a notification', { jsonrpc: '2.0', method: 'notifications/tools/list_changed' }],
    ['a result without the list', message({ resources: tools(3) })],
    ['a result whose list is none', page('many')],
    ['an error', { jsonrpc: '2.0', id: 1, error: { code: 1, message: 'no' } }],
  ])('stays as it is: %s', (_what, other) => {
    const before = structuredClone(other)
    new Listing('tools', true, noSecrets).inspect(other as JSONRPCMessage)
    expect(other).toEqual(before)
  })
})

describe('a tool that is nested too deeply', () => {
  // The tool itself is one level, and its schema another.
  const deepest = MAX_SCHEMA_DEPTH - 1

  it('is at the limit as it is', async () => {
    const each = tool('deep', { inputSchema: nested(deepest) })
    const only = page([each])
    const { listing } = await list('tools', only)
    expect(only.result['tools']).toEqual([each])
    expect(listing.report(['deep'])).toEqual([])
  })

  it.each([1, 10_000, 200_000])(
    'has an open schema %d levels over the limit, and that is reported',
    async (over) => {
      const each = tool('deep', { description: 'stays', inputSchema: nested(deepest + over) })
      const only = page([each])
      const { listing } = await list('tools', only)
      expect(only.result['tools']).toEqual([tool('deep', { description: 'stays' })])
      expect(listing.report(['deep'])).toEqual([
        `tool "deep" is nested more than ${MAX_SCHEMA_DEPTH} levels deep in inputSchema, which is ignored`,
      ])
    },
  )

  it('loses nothing else: an output schema, annotations', async () => {
    const deep = nested(MAX_SCHEMA_DEPTH * 2)
    const only = page([tool('deep', { outputSchema: deep, annotations: deep, title: 'T' })])
    const { listing } = await list('tools', only)
    expect(only.result['tools']).toEqual([tool('deep', { title: 'T' })])
    expect(listing.report(['deep'])[0]).toContain('in outputSchema, annotations, which is ignored')
  })

  it('does not touch the others, and no prototype', async () => {
    const others = [tool('a'), tool('b')]
    const evil = JSON.parse(
      `{"name":"__proto__","inputSchema":{"__proto__":{"polluted":1}},"__proto__":{"x":1}}`,
    ) as unknown
    const only = page([others[0], evil, tool('deep', { inputSchema: nested(1000) }), others[1]])
    await list('tools', only)
    const kept = only.result['tools'] as { name: string }[]
    expect(kept.map(({ name }) => name)).toEqual(['a', '__proto__', 'deep', 'b'])
    expect(kept[1]).toBe(evil)
    expect('polluted' in {}).toBe(false)
  })
})

describe('a tool with custom headers', () => {
  const withHeader = (header: string, property = 'region', type = 'string') => ({
    type: 'object',
    properties: { [property]: { type, 'x-mcp-header': header } },
  })

  it('is left to the SDK, and reported when the SDK leaves it out', async () => {
    const only = page([tool('good'), tool('bad', { inputSchema: withHeader('not a token') })])
    const { listing } = await list('tools', only)
    expect(only.result['tools']).toHaveLength(2)
    expect(listing.report(['good'])).toEqual([
      'tool "bad" is left out: its x-mcp-header declarations are invalid',
    ])
  })

  it.each([
    ['its name', tool(`bad${ESCAPE}`, { inputSchema: withHeader('Region') })],
    ['a header', tool('bad', { inputSchema: withHeader(`Region${ESCAPE}`) })],
    ['a property', tool('bad', { inputSchema: withHeader('Region', `region${ESCAPE}`) })],
    ['a type', tool('bad', { inputSchema: withHeader('Region', 'region', `string${ESCAPE}`) })],
    ['a line break in a name', tool('bad\nERROR all is lost', { inputSchema: withHeader('Region') })],
  ])(
    'is kept from the SDK, which prints it, when there are hidden characters in %s',
    async (_where, hidden) => {
      const only = page([tool('good'), hidden])
      const { listing } = await list('tools', only)
      expect(only.result['tools']).toEqual([tool('good')])
      const [report] = listing.report(['good'])
      expect(report).toContain('is left out: its x-mcp-header declarations hold hidden characters')
      expect(report).not.toContain('\u{1b}[')
      expect(report).not.toContain('\n')
    },
  )

  it('may have any name where the protocol has no custom headers', () => {
    const each = tool(`any${ESCAPE}`, { inputSchema: withHeader(ESCAPE) })
    const only = page([each])
    new Listing('tools', false, noSecrets).inspect(only)
    expect(only.result['tools']).toEqual([each])
  })

  it('may have any visible name and words', async () => {
    const visible = tool('größe', {
      inputSchema: { ...withHeader('Region', '地区'), description: `words${ESCAPE}` },
    })
    const only = page([visible])
    await list('tools', only)
    expect(only.result['tools']).toEqual([visible])
  })
})

describe('the report', () => {
  it('is empty for a list that is as the server listed it', async () => {
    const { listing } = await list('tools', page(tools(3)))
    expect(listing.report(['t0', 't1', 't2'])).toEqual([])
  })

  it('names no more than ten tools', async () => {
    const { listing } = await list('tools', page(tools(1000)))
    const report = listing.report([])
    expect(report).toHaveLength(11)
    expect(report.at(-1)).toBe('and 990 more tools are left out or changed')
  })

  it('is silent about what has no name: the SDK refuses that', async () => {
    const odd = [null, 'text', {}, { name: 5 }]
    const only = page(odd)
    const { listing } = await list('tools', only)
    expect(only.result['tools']).toEqual(odd)
    expect(listing.report([])).toEqual([])
  })
})
