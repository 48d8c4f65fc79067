/** The end of an HTTP connection, and the bounds on what comes over it. */
import { gzipSync } from 'node:zlib'
import { trackTimers, type TestHost } from '@dsh-mcp/host'
import { describe, expect, it } from 'vitest'
import {
  ERAS,
  httpConfig,
  httpFixture,
  openStream,
  result,
  scriptedServer,
  sendJson,
  tcpLine,
  type Answer,
} from '../http-support.ts'
import { eventually, host, mount, turns } from '../support.ts'

const MIB = 1_048_576

/** Sockets that were not there before the host was. */
const sockets = (on: TestHost) => on.leaks().resources['TCPSocketWrap'] ?? 0

describe('the headers of an entry', () => {
  it.each(ERAS)('go with every request to a %s server', async (era) => {
    const fixture = await httpFixture({ era, requireHeaders: { 'x-team': 'blue' } })
    const on = await host()
    await mount(on, httpConfig(fixture.url, { headers: { 'X-Team': 'blue' } }))
    await on.call('mcp__one__echo', { message: 'hi' })
    await eventually(() => expect(fixture.openStreams).toBe(1))
    await on.dispose()
    expect(fixture.requests.length).toBeGreaterThan(3)
    expect(fixture.requests.every(({ headers }) => headers['x-team'] === 'blue')).toBe(true)
  })
})

describe.each(ERAS)('the end of a connection to a %s server', (era) => {
  it('leaves no socket, no stream and no timer', async () => {
    const fixture = await httpFixture({ era })
    using timers = trackTimers()
    const on = await host()
    await mount(on, httpConfig(fixture.url, { livenessIntervalMs: 1000 }))
    await eventually(() => expect(fixture.openStreams).toBe(1))
    void on.call('mcp__one__hold')
    await eventually(() => expect(fixture.toolbox.holding).toBe(1))
    await on.dispose()
    // Both ends are in this process: the server's is closed as soon as it has heard of it.
    for (let turn = 0; turn < 100 && sockets(on) > 0; turn++) await turns(1)
    expect(sockets(on)).toBe(0)
    expect(fixture.openStreams).toBe(0)
    expect((await timers.live()).filter((frame) => frame.includes('mcp-client/src'))).toEqual([])
  })

  it('does not wait for the opening of the next stream', async () => {
    const fixture = await httpFixture({ era })
    using timers = trackTimers()
    const on = await host()
    await mount(on, httpConfig(fixture.url))
    await eventually(() => expect(fixture.openStreams).toBe(1))
    const asked = fixture.requests.length
    fixture.intercept = ({ method, rpcMethod }) =>
      method === 'GET' || rpcMethod === 'subscriptions/listen' ? 'disconnect' : undefined
    fixture.dropStreams()
    await eventually(() => expect(fixture.requests.length).toBeGreaterThan(asked))
    await on.dispose()
    expect((await timers.live()).filter((frame) => frame.includes('mcp-client/src'))).toEqual([])
  })

  it('comes on a dead line, too', async () => {
    const fixture = await httpFixture({ era })
    const line = await tcpLine(fixture.port)
    const on = await host()
    await mount(on, httpConfig(line.url))
    const answer = on.call('mcp__one__hold')
    await eventually(() => expect(fixture.toolbox.holding).toBe(1))
    line.freeze()
    await on.dispose()
    expect((await answer).isError).toBe(true)
  })

  it('comes in the middle of connecting', async () => {
    const fixture = await httpFixture({ era })
    fixture.intercept = () => 'hang'
    const on = await host()
    const mounting = mount(on, httpConfig(fixture.url))
    await eventually(() => expect(fixture.requests).not.toHaveLength(0))
    await on.dispose()
    await mounting.catch(() => {})
    expect(on.statuses.latest('one')?.status).toBe('disposed')
  })
})

it('the end of a connection does not wait for any of several streams', async () => {
  const fixture = await httpFixture({ era: 'legacy', resumable: { retryMs: 30_000 } })
  using timers = trackTimers()
  const on = await host()
  await mount(on, httpConfig(fixture.url))
  void on.call('mcp__one__hold')
  void on.call('mcp__one__hold')
  await eventually(() => expect(fixture.toolbox.holding).toBe(2))
  // When the client acts on this, it has read where every stream is.
  fixture.notifyListChanged()
  await eventually(() => expect(fixture.requestsFor('tools/list')).toHaveLength(2))
  fixture.dropStreams()
  const waiting = async () => (await timers.live()).filter((frame) => frame.includes('stream-resumption'))
  await eventually(async () => expect(await waiting()).toHaveLength(3))
  await on.dispose()
  expect(await waiting()).toEqual([])
})

describe('the session of a legacy server', () => {
  it('is ended with a DELETE at disposal', async () => {
    const fixture = await httpFixture({ era: 'legacy' })
    const on = await host()
    await mount(on, httpConfig(fixture.url))
    const [session] = fixture.sessions
    await on.dispose()
    const [deletion, ...more] = fixture.requests.filter(({ method }) => method === 'DELETE')
    expect(deletion?.headers['mcp-session-id']).toBe(session)
    expect(more).toEqual([])
    expect(fixture.sessions).toEqual([])
  })

  it.each(['hang', 'disconnect', { status: 405 }, { status: 500 }] as const)(
    'ends here although the server answers the DELETE with %j',
    async (answer) => {
      const fixture = await httpFixture({ era: 'legacy' })
      fixture.intercept = ({ method }) => (method === 'DELETE' ? answer : undefined)
      const on = await host()
      await mount(on, httpConfig(fixture.url))
      await on.dispose()
      expect(fixture.requests.filter(({ method }) => method === 'DELETE')).toHaveLength(1)
      await fixture.stop()
      await eventually(() => expect(sockets(on)).toBe(0))
    },
  )

  it('is none where the server gave none, and then there is no DELETE', async () => {
    const fixture = await httpFixture({ era: 'legacy', stateless: true })
    const on = await host()
    await mount(on, httpConfig(fixture.url))
    await on.dispose()
    expect(fixture.requests.filter(({ method }) => method === 'DELETE')).toEqual([])
  })
})

describe('a message over maxMessageBytes', () => {
  const big = 'x'.repeat(2 * MIB)
  const asJson: Answer = ({ id }, response) =>
    sendJson(response, { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: big }] } })
  const asEvent: Answer = ({ id }, response) => {
    openStream(response)
    const message = { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: big }] } }
    response.end(`data: ${JSON.stringify(message)}\n\n`)
  }

  it.each([
    ['in a JSON body', asJson],
    ['in an event', asEvent],
  ])('%s ends the connection with a clear error, and the next one serves', async (_how, answer) => {
    const server = await scriptedServer({ 'tools/call': answer })
    const on = await host()
    await mount(on, httpConfig(server.url, { maxMessageBytes: MIB }))
    const text = on.text(await on.call('mcp__one__echo'))
    expect(text).toContain(`the server sent a message of more than ${MIB} bytes (maxMessageBytes)`)
    expect(on.statuses.all('one').find(({ status }) => status === 'reconnecting')?.error).toContain(
      'maxMessageBytes',
    )
    await on.status('one', 'connected')
  })

  it('counts as what it unpacks to, however small it came', async () => {
    const packed: Answer = ({ id }, response) => {
      const message = {
        jsonrpc: '2.0',
        id,
        result: { content: [{ type: 'text', text: 'x'.repeat(30 * MIB) }] },
      }
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
      response.end(gzipSync(JSON.stringify(message)))
    }
    const server = await scriptedServer({ 'tools/call': packed })
    const on = await host()
    await mount(on, httpConfig(server.url, { maxMessageBytes: MIB }))
    expect(on.text(await on.call('mcp__one__echo'))).toContain(`more than ${MIB} bytes (maxMessageBytes)`)
  })

  it('in the list of tools fails the start', async () => {
    const server = await scriptedServer({
      'tools/list': ({ id }, response) =>
        sendJson(response, {
          jsonrpc: '2.0',
          id,
          result: { tools: [{ name: big, inputSchema: { type: 'object' } }] },
        }),
    })
    const on = await host()
    await mount(on, httpConfig(server.url, { maxMessageBytes: MIB }))
    expect(on.statuses.latest('one')?.error).toContain('maxMessageBytes')
  })

  it('is not read to its end: what the server keeps sending is not collected', async () => {
    let sent = 0
    const endless: Answer = (_message, response) => {
      openStream(response)
      response.write('data: "')
      const chunk = 'x'.repeat(MIB)
      const more = () => {
        while (!response.destroyed && response.write(chunk)) sent += chunk.length
      }
      response.on('drain', more)
      more()
    }
    const server = await scriptedServer({ 'tools/call': endless })
    const on = await host()
    await mount(on, httpConfig(server.url, { maxMessageBytes: MIB }))
    expect(on.text(await on.call('mcp__one__echo'))).toContain('maxMessageBytes')
    expect(sent).toBeLessThan(64 * MIB)
  })

  it('does not limit a stream of smaller ones', async () => {
    const many: Answer = ({ id }, response) => {
      openStream(response)
      const noise = JSON.stringify({
        jsonrpc: '2.0',
        method: 'notifications/message',
        params: { level: 'info', data: big.slice(0, MIB / 4) },
      })
      for (let count = 0; count < 20; count++) response.write(`data: ${noise}\n\n`)
      const message = { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'done' }] } }
      response.end(`data: ${JSON.stringify(message)}\n\n`)
    }
    const server = await scriptedServer({ 'tools/call': many })
    const on = await host()
    await mount(on, httpConfig(server.url, { maxMessageBytes: MIB }))
    expect(on.text(await on.call('mcp__one__echo'))).toBe('done')
  })
})

describe('a stream of a server', () => {
  it('with what is no message in it brings the messages around that', async () => {
    const mixed: Answer = ({ id }, response) => {
      openStream(response)
      const message = { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'done' }] } }
      response.write('data: not json\n\ndata: {"jsonrpc":"2.0"}\n\nevent: other\ndata: 1\n\n: comment\n\n')
      response.end(`data: ${JSON.stringify(message)}\n\n`)
    }
    const server = await scriptedServer({ 'tools/call': mixed })
    const on = await host()
    await mount(on, httpConfig(server.url))
    expect(on.text(await on.call('mcp__one__echo'))).toBe('done')
    expect(on.statuses.kinds('one')).not.toContain('reconnecting')
  })

  it('with invalid UTF-8 in it shows what was there instead', async () => {
    const invalid: Answer = ({ id }, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const [before, after] = JSON.stringify({
        jsonrpc: '2.0',
        id,
        result: { content: [{ type: 'text', text: '<>' }] },
      }).split('<>')
      response.end(
        Buffer.concat([Buffer.from(before!), Buffer.from([0xff, 0xfe, 0xc3]), Buffer.from(after!)]),
      )
    }
    const server = await scriptedServer({ 'tools/call': invalid })
    const on = await host()
    await mount(on, httpConfig(server.url))
    expect(on.text(await on.call('mcp__one__echo'))).toBe('\u{fffd}\u{fffd}\u{fffd}')
  })
})

describe('an answer that came', () => {
  it('is the only one, for a call and for the offer of the modern protocol', async () => {
    const discovered = {
      resultType: 'complete',
      ttlMs: 0,
      cacheScope: 'private',
      supportedVersions: ['2026-07-28'],
      capabilities: { tools: {} },
    }
    const asEvent =
      (value: Record<string, unknown>): Answer =>
      ({ id }, response) => {
        openStream(response)
        response.end(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result: value })}\n\n`)
      }
    const answers = {
      'server/discover': asEvent(discovered),
      'tools/call': asEvent({ resultType: 'complete', content: [] }),
    }
    const server = await scriptedServer(answers, 'modern')
    const on = await host()
    await mount(on, httpConfig(server.url))
    await on.call('mcp__one__echo')
    await on.call('mcp__one__echo')
    expect(on.logs.find({ text: 'unknown message' })).toEqual([])
    expect(server.count('server/discover')).toBe(1)
  })
})

describe('an event id of a server', () => {
  it('that cannot be sent back costs the call that waits for it, and no more', async () => {
    const unspeakable: Answer = (_message, response) => {
      openStream(response)
      response.end('id: \u{5b57}\ndata:\n\n')
    }
    const server = await scriptedServer({ 'tools/call': unspeakable })
    const on = await host()
    await mount(on, httpConfig(server.url, { toolCallTimeoutMs: 1000 }))
    expect((await on.call('mcp__one__echo')).isError).toBe(true)
    expect(on.statuses.kinds('one')).not.toContain('reconnecting')
    server.script['tools/call'] = result({ content: [] })
    expect((await on.call('mcp__one__echo')).isError).toBe(false)
  })
})
