/** Servers that send too much, too often, without end, or what nobody should see: nothing crashes, hangs or grows. */
import type { ServerResponse } from 'node:http'
import { visibleText } from '@deepseek-ai/dsh-mcp-text'
import type { FixtureTool, Json } from '@dsh-mcp/fixtures'
import type { TestHost } from '@dsh-mcp/host'
import { SUBSCRIPTION_ID_META_KEY } from '@modelcontextprotocol/client'
import { describe, expect, it } from 'vitest'
import { MAX_LIST_PAGES } from '../src/connection/listing.ts'
import { MAX_DESCRIPTION_LENGTH, MAX_SCHEMA_DEPTH, MAX_SCHEMA_LENGTH } from '../src/tools/model-schema.ts'
import {
  ERAS,
  httpConfig,
  httpFixture,
  openStream,
  result,
  scriptedServer,
  sendJson,
  type Answer,
} from './http-support.ts'
import { eventually, host, mount, turns } from './support.ts'

const tool = (name: string, more = {}): FixtureTool => ({ name, inputSchema: { type: 'object' }, ...more })

/** A terminal escape, a bidi override, a zero-width space, a NUL and a lone surrogate. */
const HIDDEN = '\u{1b}[31m\u{202e}\u{200b}\u{0}\u{d800}'

/** Every string within a value, keys included. */
function strings(value: unknown, found: string[] = []): string[] {
  if (typeof value === 'string') found.push(value)
  if (typeof value !== 'object' || value === null) return found
  for (const [key, child] of Object.entries(value)) {
    found.push(key)
    strings(child, found)
  }
  return found
}

/** Those of the texts that hide something. */
const hiding = (texts: readonly string[]) => texts.filter((text) => visibleText(text) !== text)

/** Everything that an operator or a model gets to read. */
async function readable(on: TestHost): Promise<string[]> {
  const prompt = await on.prompt()
  return [...strings(prompt.tools), prompt.text, on.logText(), ...strings(on.statuses.all())]
}

describe.each(ERAS)('a %s server that announces 10,000 changes at once', (era) => {
  it('is listed at most twice for them', async () => {
    const complete = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' }
    const event = (message: Record<string, unknown>) =>
      `data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`
    let stream: ServerResponse | undefined
    let meta = {}
    const subscribe: Answer = ({ id }, response) => {
      openStream(response)
      stream = response
      meta = { _meta: { [SUBSCRIPTION_ID_META_KEY]: id } }
      const params = { ...meta, notifications: { toolsListChanged: true } }
      response.write(event({ method: 'notifications/subscriptions/acknowledged', params }))
    }
    const capabilities = { tools: { listChanged: true } }
    const discovered = { ...complete, supportedVersions: ['2026-07-28'], capabilities }
    const server = await scriptedServer(
      {
        ...(era === 'modern' && { 'server/discover': result(discovered) }),
        'subscriptions/listen': subscribe,
        GET: (_message, response) => {
          openStream(response)
          stream = response
        },
      },
      era,
    )
    const on = await host()
    await mount(on, httpConfig(server.url))
    await eventually(() => expect(stream).toBeDefined())
    expect(server.count('tools/list')).toBe(1)
    server.script['tools/list'] = result({ ...complete, tools: [tool('after')] })
    // One buffer, so that the burst is one, however slow the machine is.
    stream?.write(event({ method: 'notifications/tools/list_changed', params: meta }).repeat(10_000))
    await eventually(() => expect(on.toolNames()).toEqual(['mcp__one__after']))
    await eventually(() => expect(server.count('tools/list')).toBe(3))
    await turns(200)
    expect(server.count('tools/list')).toBe(3)
  })
})

describe('a list without an end', () => {
  it('is given up after so many pages, and the entry tries again later', async () => {
    let pages = 0
    const server = await scriptedServer({
      'tools/list': ({ id }, response) => {
        response.shouldKeepAlive = true
        pages++
        sendJson(response, {
          jsonrpc: '2.0',
          id,
          result: { tools: [tool(`t${pages}`)], nextCursor: `${pages}` },
        })
      },
    })
    const on = await host()
    await mount(on, httpConfig(server.url, { reconnect: { initialDelayMs: 60_000, maxDelayMs: 60_000 } }))
    expect(pages).toBe(MAX_LIST_PAGES)
    expect(on.statuses.latest('one')).toMatchObject({ status: 'reconnecting', toolCount: 0 })
    expect(on.statuses.latest('one')?.error).toContain('pagination did not terminate')
  })

  it('that repeats one page ends with that page', async () => {
    const server = await scriptedServer({
      'tools/list': result({ tools: [tool('same')], nextCursor: 'again' }),
    })
    const on = await host()
    await mount(on, httpConfig(server.url))
    expect(server.count('tools/list')).toBe(2)
    expect(on.toolNames()).toEqual(['mcp__one__same'])
  })
})

describe.each(ERAS)('a %s server with very much', (era) => {
  it('of tools has them all, and a change replaces one', async () => {
    const tools = Array.from({ length: 5000 }, (_, index) =>
      tool(`t${index}`, { description: `tool ${index}` }),
    )
    const fixture = await httpFixture({ era, tools, pageSize: 1000 })
    const on = await host()
    await mount(on, httpConfig(fixture.url))
    expect(on.toolNames()).toHaveLength(5000)
    await eventually(() => expect(fixture.openStreams).toBe(1))
    const before = on.toolChanges
    fixture.setTools({ add: [tool('t77', { description: 'changed' })] })
    await eventually(() =>
      expect(on.schemas().find(({ name }) => name === 'mcp__one__t77')?.description).toBe('changed'),
    )
    // One unregistration and one registration.
    expect(on.toolChanges - before).toBe(2)
  })

  it('of text in a tool shows the model a bounded part of it, and the tool works', async () => {
    const within = {
      type: 'object',
      properties: { a: { type: 'string', description: 'd'.repeat(5_000_000) } },
    }
    const fixture = await httpFixture({
      era,
      tools: [
        tool('n'.repeat(10_000)),
        tool('described', { description: 'd'.repeat(5_000_000) }),
        tool('within', { inputSchema: within }),
        tool('wide', {
          inputSchema: { type: 'object', properties: { a: { enum: ['e'.repeat(1_000_000)] } } },
        }),
      ],
    })
    const on = await host()
    await mount(on, httpConfig(fixture.url))
    const { tools } = await on.prompt()
    expect(tools).toHaveLength(4)
    for (const { name, description, parameters } of tools) {
      expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/u)
      expect(description.length).toBeLessThanOrEqual(MAX_DESCRIPTION_LENGTH)
      expect(JSON.stringify(parameters).length).toBeLessThan(MAX_SCHEMA_LENGTH)
    }
    expect(tools.find(({ name }) => name === 'mcp__one__described')?.description).toMatch(
      /… \(\+\d+ characters\)$/u,
    )
    for (const { name } of tools) expect((await on.call(name)).isError, name).toBe(false)
    expect(fixture.toolbox.calls.map((call) => call.name.length)).toContain(10_000)
  })

  it.each([1000, 10_000])('of levels in its schemas (%d) has open ones, and says so', async (levels) => {
    const schema = `${'{"type":"object","properties":{"a":'.repeat(levels)}{}${'}}'.repeat(levels)}`
    const server = await scriptedServer(
      {
        // Many a server could not even send this, the SDK's own for one.
        'tools/list': ({ id }, response) => {
          const tools = `[{"name":"echo","inputSchema":${schema},"outputSchema":${schema}}]`
          const page = `{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":${tools}}`
          response.writeHead(200, { 'content-type': 'application/json' })
          response.end(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${page}}`)
        },
      },
      era,
    )
    const on = await host()
    await mount(on, httpConfig(server.url))
    expect((await on.prompt()).tools[0]?.parameters).toEqual({ type: 'object' })
    expect(on.logs.find({ level: 'warn' }).map(({ text }) => text)).toEqual([
      `mcp-client(one): tool "echo" is nested more than ${MAX_SCHEMA_DEPTH} levels deep in inputSchema, outputSchema, which is ignored`,
    ])
    expect(on.text(await on.call('mcp__one__echo'))).toBe('called')
  })

  it('of schemas that refer to themselves lists and calls them', async () => {
    const inputSchema = {
      type: 'object',
      $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } } } },
      properties: { head: { $ref: '#/$defs/node' }, self: { $ref: '#' } },
    }
    const results = { recursive: { content: [], structuredContent: { head: { next: { next: {} } } } } }
    const fixture = await httpFixture({
      era,
      tools: [tool('recursive', { inputSchema, outputSchema: inputSchema })],
      results,
    })
    const on = await host()
    await mount(on, httpConfig(fixture.url))
    expect(on.schemas()[0]?.parameters).toEqual(inputSchema)
    expect((await on.call('mcp__one__recursive', { head: {} })).isError).toBe(false)
  })

  it('of names that mean something in JavaScript means nothing by them', async () => {
    const names = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'then']
    const schema = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"string"}},"__proto__":{"x":1}}',
    ) as Json
    const fixture = await httpFixture({
      era,
      tools: names.map((name) => tool(name, { inputSchema: schema })),
    })
    const on = await host()
    await mount(on, httpConfig(fixture.url))
    expect(on.toolNames().toSorted()).toEqual(names.map((name) => `mcp__one__${name}`).toSorted())
    const args = JSON.parse('{"__proto__":"a","constructor":"b"}') as Json
    for (const name of names) {
      const answer = on.text(await on.call(`mcp__one__${name}`, args))
      expect(answer).toBe(`called ${name} with {"__proto__":"a","constructor":"b"}`)
    }
    expect('x' in {}).toBe(false)
  })

  it('of hidden characters shows them, everywhere', async () => {
    const hidden = `a${HIDDEN}b`
    const fixture = await httpFixture({
      era,
      instructions: hidden,
      serverInfo: { name: hidden, version: hidden, title: hidden },
      tools: [
        tool(hidden, { title: hidden, description: hidden, annotations: { title: hidden } }),
        tool('schema', {
          inputSchema: { type: 'object', description: hidden, properties: { a: { title: hidden } } },
        }),
        tool('wire', { inputSchema: { type: 'object', properties: { [hidden]: { enum: [hidden] } } } }),
        tool('headers', {
          inputSchema: {
            type: 'object',
            properties: { [hidden]: { type: 'string', 'x-mcp-header': hidden } },
          },
        }),
        tool('speaks'),
        tool('fails'),
        tool('throw', { inputSchema: { type: 'object' } }),
      ],
      results: {
        speaks: { content: [{ type: 'text', text: hidden }] },
        fails: { content: [{ type: 'text', text: hidden }], isError: true },
      },
    })
    const on = await host()
    await mount(on, httpConfig(fixture.url))
    fixture.notifyListChanged()
    const answers: string[] = []
    for (const name of on.toolNames()) {
      answers.push(on.text(await on.call(name, { message: hidden, code: -32_603 })))
    }
    // Of the modern list, the one whose headers cannot be printed is left out.
    expect(answers).toHaveLength(era === 'modern' ? 6 : 7)
    expect(hiding(answers)).toEqual([])
    expect((await on.prompt()).text).toContain('a\\u{1b}[31m\\u{202e}\\u{200b}\\u{0}\\u{d800}b')
    expect(on.statuses.latest('one')?.serverInfo?.name).toContain('\\u{1b}')
    expect(hiding(await readable(on))).toEqual([])
  })
})

describe('messages that nobody asked for', () => {
  it('of any number and kind do not disturb a connection', async () => {
    const hidden = `x${HIDDEN}`
    const server = await scriptedServer({
      GET: (_message, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        const send = (message: unknown) => response.write(`data: ${JSON.stringify(message)}\n\n`)
        for (let id = 0; id < 1000; id++) {
          send({ jsonrpc: '2.0', id: 10_000 + id, result: { [hidden]: hidden } })
          send({ jsonrpc: '2.0', id: `e${id}`, error: { code: 1, message: hidden } })
          send({ jsonrpc: '2.0', method: hidden, params: { [hidden]: hidden } })
          send({
            jsonrpc: '2.0',
            method: 'notifications/progress',
            params: { progressToken: hidden, progress: 1 },
          })
          send({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'error', data: hidden } })
          send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } })
          send({ jsonrpc: '2.0', id: `r${id}`, method: hidden, params: {} })
          send({ jsonrpc: '2.0', id: `s${id}`, method: 'sampling/createMessage', params: {} })
        }
      },
    })
    const on = await host()
    await mount(on, httpConfig(server.url))
    // The requests among them are refused, those that come too thick and fast excepted.
    await eventually(() => expect(server.received.some(({ method }) => method === undefined)).toBe(true))
    expect(on.text(await on.call('mcp__one__echo'))).toBe('called')
    expect(on.statuses.kinds('one')).not.toContain('reconnecting')
    expect(hiding(await readable(on))).toEqual([])
  })

  it('are not answered without end: a server that does not take the answers gets no more', async () => {
    const server = await scriptedServer({
      '': () => {},
      GET: (_message, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        for (let id = 0; id < 1000; id++) {
          const request = { jsonrpc: '2.0', id: `r${id}`, method: 'roots/list' }
          response.write(`data: ${JSON.stringify(request)}\n\n`)
        }
        response.write(
          `data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' })}\n\n`,
        )
      },
    })
    const on = await host()
    await mount(on, httpConfig(server.url))
    // The last message of the stream has been read when this comes.
    await eventually(() => expect(server.count('tools/list')).toBe(2))
    expect(server.received.filter(({ method }) => method === undefined).length).toBeLessThanOrEqual(100)
    expect(on.text(await on.call('mcp__one__echo'))).toBe('called')
  })
})

describe('the answer to a call', () => {
  const saying = (text: string) => ({ content: [{ type: 'text', text }] })

  it('may be an event whose lines end with a carriage return, on a stream that stays open', async () => {
    const server = await scriptedServer({
      'tools/call': ({ id }, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        const answer = { jsonrpc: '2.0', id, result: saying('hello') }
        response.write(`data: ${JSON.stringify(answer)}\r\r: and on\r`)
      },
    })
    const on = await host()
    await mount(on, httpConfig(server.url))
    expect(on.text(await on.call('mcp__one__echo'))).toBe('hello')
  })

  it.each<[string, Answer, string]>([
    [
      'breaks off',
      (_, response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': 500 })
        response.write('{"jsonrpc":"2.0",')
        setTimeout(() => response.destroy(), 50)
      },
      // The system has several words for it.
      '',
    ],
    [
      'is not encoded as it says',
      (_, response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
        response.end('{}')
      },
      'incorrect header check',
    ],
  ])(
    'that %s leaves open what the call did, and the server is asked for a sign of life',
    async (_, answer, why) => {
      const server = await scriptedServer({ 'tools/call': answer })
      const on = await host()
      await mount(on, httpConfig(server.url))
      const shown = on.text(await on.call('mcp__one__echo'))
      expect(shown).toContain(`failed: the answer of ${new URL(server.url).host} broke off: ${why}`)
      expect(shown).toContain('Whether the call took effect is unknown')
      await eventually(() => expect(server.count('ping')).toBe(1))
      expect(on.statuses.latest('one')?.status).toBe('connected')
    },
  )

  it('may come after a hundred thousand lines that say nothing', async () => {
    const server = await scriptedServer({
      'tools/call': ({ id }, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write('data:\n'.repeat(100_000))
        response.end(`\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, result: saying('at last') })}\n\n`)
      },
    })
    const on = await host()
    await mount(on, httpConfig(server.url))
    expect(on.text(await on.call('mcp__one__echo'))).toBe('at last')
  })

  it('may be spread over a hundred thousand lines', async () => {
    const items = Array.from({ length: 100_000 }, (_, index) => index)
    const server = await scriptedServer({
      'tools/call': ({ id }, response) => {
        response.writeHead(200, { 'content-type': 'application/json' })
        const answer = {
          jsonrpc: '2.0',
          id,
          result: { ...saying('all of it'), structuredContent: { items } },
        }
        response.end(JSON.stringify(answer, null, 1))
      },
    })
    const on = await host()
    await mount(on, httpConfig(server.url))
    expect(on.text(await on.call('mcp__one__echo'))).toBe('all of it')
  })
})

describe('tools that may not be listed', () => {
  it('are left out with a warning of the entry, and only once', async () => {
    const invalid = { type: 'object', properties: { a: { type: 'object', 'x-mcp-header': 'Region' } } }
    const fixture = await httpFixture({
      era: 'modern',
      tools: [tool('good'), tool('bad', { inputSchema: invalid })],
    })
    const on = await host()
    await mount(on, httpConfig(fixture.url))
    await eventually(() => expect(fixture.openStreams).toBe(1))
    expect(on.toolNames()).toEqual(['mcp__one__good'])
    fixture.setTools({ add: [tool('more')] })
    await eventually(() => expect(on.toolNames()).toContain('mcp__one__more'))
    const warnings = on.logs.find({ level: 'warn', text: 'left out' })
    expect(warnings.map(({ text }) => text)).toEqual([
      'mcp-client(one): tool "bad" is left out: its x-mcp-header declarations are invalid',
    ])
  })
})
