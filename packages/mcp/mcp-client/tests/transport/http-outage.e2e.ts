/** Servers that go down, refuse for a while, break off or fall silent: supervised like a process, calls fail clearly. */
import type { HttpAnswer, HttpFixture, HttpFixtureOptions } from '@dsh-mcp/fixtures'
import type { TestHost } from '@dsh-mcp/host'
import { describe, expect, it } from 'vitest'
import type { StreamableHttpConfig } from '../../src/index.ts'
import {
  ERAS,
  failure,
  httpConfig,
  httpFixture,
  openStream,
  scriptedServer,
  sendJson,
  tcpLine,
  type Answer,
} from '../http-support.ts'
import { eventually, host, mount, turns } from '../support.ts'

async function connected(
  options: HttpFixtureOptions,
  more: Partial<StreamableHttpConfig> = {},
): Promise<{ fixture: HttpFixture; on: TestHost }> {
  const fixture = await httpFixture(options)
  const on = await host()
  await mount(on, httpConfig(fixture.url, more))
  return { fixture, on }
}

const echo = (on: TestHost) => on.call('mcp__one__echo', { message: 'hi' })

/** Start a call that the server holds, and wait until it has it. */
async function holding(on: TestHost, fixture: HttpFixture, signal?: AbortSignal) {
  const answer = on.call('mcp__one__hold', {}, { ...(signal !== undefined && { signal }) })
  await eventually(() => expect(fixture.toolbox.holding).toBe(1))
  return { answer }
}

/** Answer every call of a tool like this, and everything else as usual. */
const callsWith = (answer: HttpAnswer): HttpFixture['intercept'] => {
  return ({ rpcMethod }) => (rpcMethod === 'tools/call' ? answer : undefined)
}

describe.each(ERAS)('a %s server that goes down', (era) => {
  it('fails the running call at once, and comes back with its tools', async () => {
    const { fixture, on } = await connected({ era })
    const names = on.toolNames()
    const { answer } = await holding(on, fixture)
    await fixture.stop()
    expect(on.text(await answer)).toContain('Whether the call took effect is unknown')
    await on.status('one', 'reconnecting')
    expect(on.toolNames()).toEqual(names)
    await fixture.restart()
    await on.status('one', 'connected')
    expect(on.toolNames()).toEqual(names)
    expect(on.text(await echo(on))).toBe('hi')
  })

  it('is noticed by the next call, which says that nothing listens', async () => {
    const { fixture, on } = await connected(
      { era },
      { reconnect: { initialDelayMs: 60_000, maxDelayMs: 60_000 } },
    )
    await fixture.stop()
    expect((await echo(on)).isError).toBe(true)
    const status = await on.status('one', 'reconnecting')
    expect(status.error).toContain(`nothing listens at 127.0.0.1:${fixture.port} (connection refused)`)
    const answer = on.text(await echo(on))
    expect(answer).toContain('The call was not sent')
    expect(answer).toMatch(/The next connection attempt \(2 of 10\) starts in about \d+ s/)
  })

  it('gets no call that cannot be sent, and the call says so', async () => {
    const server = await scriptedServer({}, era)
    const on = await host()
    await mount(on, httpConfig(server.url))
    await server.stop()
    const answer = on.text(await echo(on))
    expect(answer).toContain('MCP tool "echo" of server "one" was not called: nothing listens')
    expect(answer).not.toContain('unknown')
  })

  it('has its tools and instructions taken back when the attempts are used up', async () => {
    const { fixture, on } = await connected(
      { era, instructions: 'Be careful.' },
      { reconnect: { initialDelayMs: 1, maxDelayMs: 1000, maxAttempts: 2 } },
    )
    await fixture.stop()
    await echo(on)
    await on.status('one', (status) => status.status === 'failed' && status.toolCount === 0)
    expect(on.toolNames()).toEqual([])
    expect((await on.prompt()).text).toBe('')
  })

  it('keeps its tools listed where reconnection is off', async () => {
    const { fixture, on } = await connected({ era }, { reconnect: { enabled: false } })
    await fixture.stop()
    await echo(on)
    await on.status('one', 'failed')
    expect(on.toolNames()).toContain('mcp__one__echo')
    expect(on.text(await echo(on))).toContain('no further attempt will be made')
  })

  it('is waited for as the start of an entry', async () => {
    const fixture = await httpFixture({ era })
    await fixture.stop()
    const on = await host()
    await mount(on, httpConfig(fixture.url))
    expect(on.toolNames()).toEqual([])
    await fixture.restart()
    await on.status('one', 'connected')
    expect(on.text(await echo(on))).toBe('hi')
  })
})

describe.each(ERAS)('a %s server that is not available', (era) => {
  it.each([429, 502, 503, 504])('with HTTP %d is reconnected to', async (status) => {
    const { fixture, on } = await connected({ era })
    fixture.intercept = ({ rpcMethod }) =>
      rpcMethod === 'tools/call' ? { status, body: 'later' } : undefined
    const answer = on.text(await echo(on))
    expect(answer).toContain(`HTTP ${status}`)
    fixture.intercept = undefined
    await on.status('one', 'connected')
    expect(on.statuses.kinds('one')).toContain('reconnecting')
    expect(on.text(await echo(on))).toBe('hi')
  })

  it.each([
    ['seconds', () => '20'],
    ['a date', () => new Date(Date.now() + 20_000).toUTCString()],
  ])('is left alone as long as it asks for in %s', async (_how, retryAfter) => {
    const { fixture, on } = await connected({ era }, { reconnect: { initialDelayMs: 1, maxDelayMs: 60_000 } })
    fixture.intercept = callsWith({ status: 503, headers: { 'retry-after': retryAfter() } })
    const before = Date.now()
    await echo(on)
    const { nextAttemptAt } = await on.status('one', 'reconnecting')
    expect(nextAttemptAt! - before).toBeGreaterThan(15_000)
  })

  it('is left alone for no longer than maxDelayMs, whatever it asks for', async () => {
    const { fixture, on } = await connected({ era })
    const retryAfter = '9'.repeat(400)
    fixture.intercept = ({ rpcMethod }) =>
      rpcMethod === 'tools/call' ? { status: 503, headers: { 'retry-after': retryAfter } } : undefined
    await echo(on)
    fixture.intercept = undefined
    await on.status('one', 'connected')
    expect(on.text(await echo(on))).toBe('hi')
  })

  it('as the start of an entry is left alone as long as it asks for', async () => {
    const fixture = await httpFixture({ era })
    fixture.intercept = () => ({ status: 503, headers: { 'retry-after': '20' }, body: 'starting' })
    const on = await host()
    const before = Date.now()
    await mount(on, httpConfig(fixture.url, { reconnect: { initialDelayMs: 1, maxDelayMs: 60_000 } }))
    const status = on.statuses.latest('one')!
    expect(status.error).toContain('is not available (HTTP 503: starting)')
    expect(status.nextAttemptAt! - before).toBeGreaterThan(15_000)
  })
})

describe.each(ERAS)('one call of a %s server', (era) => {
  it('that is answered with HTTP 500 fails alone', async () => {
    const { fixture, on } = await connected({ era })
    fixture.intercept = callsWith({ status: 500, body: 'boom' })
    const answer = await echo(on)
    expect(answer.isError).toBe(true)
    expect(on.text(answer)).toContain('(HTTP 500: boom)')
    fixture.intercept = undefined
    expect(on.text(await echo(on))).toBe('hi')
    expect(on.statuses.kinds('one')).not.toContain('reconnecting')
  })

  it('whose connection is reset fails alone, with its outcome unknown', async () => {
    const { fixture, on } = await connected({ era })
    fixture.intercept = callsWith('disconnect')
    const answer = on.text(await echo(on))
    expect(answer).toContain('closed the connection before it answered')
    expect(answer).not.toContain('https:')
    expect(answer).toContain('Whether the call took effect is unknown')
    fixture.intercept = undefined
    expect(on.text(await echo(on))).toBe('hi')
    expect(on.statuses.kinds('one')).not.toContain('reconnecting')
  })

  it('whose answer breaks off fails at once', async () => {
    const cut: Answer = (_message, response, request) => {
      openStream(response)
      response.write(': more to come\n\n', () => setImmediate(() => request.socket.resetAndDestroy()))
    }
    const server = await scriptedServer({ 'tools/call': cut }, era)
    const on = await host()
    await mount(on, httpConfig(server.url))
    const answer = on.text(await echo(on))
    expect(answer).toContain(
      'ended its answer before it was complete. Whether the call took effect is unknown',
    )
    expect(server.count('tools/call')).toBe(1)
    expect(on.statuses.kinds('one')).not.toContain('reconnecting')
  })

  it('that takes too long fails at once, and the server is asked for a sign of life', async () => {
    const { fixture, on } = await connected({ era }, { toolCallTimeoutMs: 200 })
    const sign = era === 'modern' ? 'server/discover' : 'ping'
    const signs = fixture.requestsFor(sign).length
    fixture.intercept = ({ rpcMethod }) => (rpcMethod === sign ? 'hang' : undefined)
    const answer = await on.call('mcp__one__hold')
    expect(on.text(answer)).toContain('did not answer within 200 ms')
    await eventually(() => expect(fixture.requestsFor(sign)).toHaveLength(signs + 1))
    expect(on.statuses.latest('one')).toMatchObject({ status: 'connected' })
    await eventually(() => expect(fixture.toolbox.cancellations).toHaveLength(1))
  })

  it('that is cancelled returns at once, and its stream is closed at the server', async () => {
    const { fixture, on } = await connected({ era })
    await eventually(() => expect(fixture.openStreams).toBe(1))
    const cancellation = new AbortController()
    const { answer } = await holding(on, fixture, cancellation.signal)
    cancellation.abort()
    expect((await answer).isError).toBe(true)
    await eventually(() => expect(fixture.openStreams).toBe(1))
    await eventually(() => expect(fixture.toolbox.cancellations.map(({ name }) => name)).toEqual(['hold']))
    expect(on.text(await echo(on))).toBe('hi')
  })

  it('that is cancelled returns at once although the line is dead', async () => {
    const fixture = await httpFixture({ era })
    const line = await tcpLine(fixture.port)
    const on = await host()
    await mount(on, httpConfig(line.url))
    const cancellation = new AbortController()
    const { answer } = await holding(on, fixture, cancellation.signal)
    line.freeze()
    cancellation.abort()
    expect((await answer).isError).toBe(true)
  })
})

describe('a request that is answered by nobody', () => {
  it.each<[string, Answer]>([
    ['accepted with 202', (_message, response) => response.writeHead(202).end()],
    [
      'answered with the answer of another',
      (_message, response) => sendJson(response, { jsonrpc: '2.0', id: 4711, result: {} }),
    ],
    [
      'answered with an empty stream',
      (_message, response) => {
        openStream(response)
        response.end()
      },
    ],
  ])('because it is %s fails at once', async (_how, answer) => {
    const server = await scriptedServer({ 'tools/call': answer })
    const on = await host()
    await mount(on, httpConfig(server.url))
    expect(on.text(await echo(on))).toMatch(/did not answer it|before it was complete/)
  })

  it('is told apart from an error of the server that looks the same', async () => {
    const server = await scriptedServer({ 'tools/call': failure(-32099, '\u{1b}[31mred') })
    const on = await host()
    await mount(on, httpConfig(server.url))
    expect(on.text(await echo(on))).toContain('was refused with code -32099: \\u{1b}[31mred')
  })
})

describe('an event stream of a legacy server', () => {
  it('that drops is resumed where it was, and the call gets its answer', async () => {
    const { fixture, on } = await connected({ era: 'legacy', resumable: { retryMs: 100 } })
    const { answer } = await holding(on, fixture)
    // When the client acts on this, it has also read where the other stream is.
    fixture.notifyListChanged()
    await eventually(() => expect(fixture.requestsFor('tools/list')).toHaveLength(2))
    fixture.dropStreams()
    await eventually(() => expect(fixture.requests.filter(isResumption)).not.toHaveLength(0))
    fixture.toolbox.release()
    expect(on.text(await answer)).toBe('released')
    expect(fixture.toolbox.calls).toHaveLength(1)
  })

  it('of its own that drops is opened again, and a change made meanwhile is noticed', async () => {
    const { fixture, on } = await connected({ era: 'legacy' })
    await eventually(() => expect(fixture.openStreams).toBe(1))
    fixture.intercept = ({ method }) => (method === 'GET' ? 'disconnect' : undefined)
    fixture.dropStreams()
    // An attempt to open it again is cut as well.
    const attempts = () => fixture.requests.filter(({ method }) => method === 'GET').length
    await eventually(() => expect(attempts()).toBeGreaterThan(1))
    fixture.setTools({ remove: ['echo'] })
    fixture.intercept = undefined
    await eventually(() => expect(on.toolNames()).not.toContain('mcp__one__echo'))
    expect(on.statuses.kinds('one')).not.toContain('reconnecting')
    fixture.setTools({ remove: ['add'] })
    await eventually(() => expect(on.toolNames()).not.toContain('mcp__one__add'))
  })

  it('that is opened again makes a server list nothing when it never announces changes', async () => {
    const server = await scriptedServer({
      initialize: ({ id }, response) => {
        const value = {
          protocolVersion: '2025-11-25',
          capabilities: { tools: {} },
          serverInfo: { name: 's', version: '1' },
        }
        sendJson(response, { jsonrpc: '2.0', id, result: value })
      },
      GET: (_message, response) => {
        openStream(response)
        response.end(': nothing\n\n')
      },
    })
    const on = await host()
    await mount(on, httpConfig(server.url))
    await eventually(() => expect(server.count('GET')).toBeGreaterThan(2))
    expect(server.count('tools/list')).toBe(1)
  })

  it.each([404, 405, 500])('that the server answers with HTTP %d is not missed', async (status) => {
    const fixture = await httpFixture({ era: 'legacy' })
    fixture.intercept = ({ method }) => (method === 'GET' ? { status } : undefined)
    const on = await host()
    await mount(on, httpConfig(fixture.url))
    await eventually(() => expect(fixture.requests.filter(({ method }) => method === 'GET')).toHaveLength(1))
    expect(on.text(await echo(on))).toBe('hi')
    expect(on.statuses.kinds('one')).not.toContain('reconnecting')
  })

  it('that asks to come back in no time is not taken at its word', async () => {
    const server = await scriptedServer({
      GET: (_message, response) => {
        openStream(response)
        response.end('retry: 0\n\n')
      },
    })
    const on = await host()
    await mount(on, httpConfig(server.url))
    await eventually(() => expect(server.count('GET')).toBeGreaterThan(1))
    const requested = server.count('GET')
    await turns(20)
    expect(server.count('GET')).toBeLessThanOrEqual(requested + 1)
  })
})

describe('the subscription of a modern connection', () => {
  it.each([
    ['gracefully', (fixture: HttpFixture) => fixture.closeSessions()],
    ['by a cut', async (fixture: HttpFixture) => fixture.dropStreams()],
  ])('that ends %s is opened again, and a change made meanwhile is noticed', async (_how, end) => {
    const { fixture, on } = await connected({ era: 'modern' })
    await eventually(() => expect(fixture.openStreams).toBe(1))
    fixture.intercept = ({ rpcMethod }) =>
      rpcMethod === 'subscriptions/listen' ? { status: 500 } : undefined
    await end(fixture)
    await eventually(() => expect(fixture.requestsFor('subscriptions/listen').length).toBeGreaterThan(1))
    fixture.setTools({ remove: ['echo'] })
    fixture.intercept = undefined
    await eventually(() => expect(on.toolNames()).not.toContain('mcp__one__echo'))
    fixture.setTools({ remove: ['add'] })
    await eventually(() => expect(on.toolNames()).not.toContain('mcp__one__add'))
    expect(on.statuses.kinds('one')).not.toContain('reconnecting')
  })

  it('is not insisted on when the server does not answer it', async () => {
    const fixture = await httpFixture({ era: 'modern' })
    fixture.intercept = ({ rpcMethod }) => (rpcMethod === 'subscriptions/listen' ? 'hang' : undefined)
    const on = await host()
    await mount(on, httpConfig(fixture.url))
    expect(on.text(await echo(on))).toBe('hi')
  })

  it('is not asked for again where the server does not know it', async () => {
    const fixture = await httpFixture({ era: 'modern' })
    fixture.intercept = ({ rpcMethod, body }) => {
      if (rpcMethod !== 'subscriptions/listen') return undefined
      const error = { code: -32601, message: 'Method not found' }
      const answer = { jsonrpc: '2.0', id: (body as { id: string }).id, error }
      return { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(answer) }
    }
    const on = await host()
    await mount(on, httpConfig(fixture.url))
    expect(on.logs.find({ level: 'debug', text: 'Method not found' })).toHaveLength(1)
    expect(on.text(await echo(on))).toBe('hi')
  })
})

describe.each(ERAS)('a %s server that somebody else answers for', (era) => {
  it.each<[string, HttpAnswer, string]>([
    [
      'a login page',
      { status: 200, headers: { 'content-type': 'text/html' }, body: '<html>' },
      'instead of JSON',
    ],
    [
      'a redirect',
      { status: 302, headers: { location: 'https://login.invalid/' } },
      'redirects to https://login.invalid/',
    ],
    ['401', { status: 401 }, 'requires authorization (HTTP 401)'],
    ['403', { status: 403 }, 'refuses access (HTTP 403)'],
    ['405', { status: 405 }, 'does not take MCP requests (HTTP 405)'],
    [
      'other JSON',
      { status: 200, headers: { 'content-type': 'application/json' }, body: '{}' },
      'not JSON-RPC',
    ],
  ])('with %s is reconnected to, and the status says what is wrong', async (_what, answer, words) => {
    const { fixture, on } = await connected({ era })
    fixture.intercept = () => answer
    expect(on.text(await echo(on))).toContain(words)
    const { error } = await on.status('one', 'reconnecting')
    expect(error).toContain(words)
    fixture.intercept = undefined
    await on.status('one', 'connected')
    expect(on.text(await echo(on))).toBe('hi')
  })
})

describe('a server that does not know a ping', () => {
  it.each([404, 405, 500])(
    'and answers it with HTTP %d stays connected, because it knows its tools',
    async (status) => {
      const server = await scriptedServer({
        initialize: ({ id }, response) => {
          const value = {
            protocolVersion: '2025-11-25',
            capabilities: { tools: {} },
            serverInfo: { name: 's', version: '1' },
          }
          sendJson(response, { jsonrpc: '2.0', id, result: value })
        },
        ping: (_message, response) => response.writeHead(status).end(),
      })
      const on = await host()
      await mount(on, httpConfig(server.url, { livenessIntervalMs: 1000 }))
      await eventually(() => expect(server.count('ping')).toBeGreaterThan(1))
      expect(server.count('tools/list')).toBeGreaterThan(1)
      expect(on.statuses.kinds('one')).not.toContain('reconnecting')
    },
  )
})

describe.each(ERAS)('a line to a %s server that is dead without a sign', (era) => {
  it('is noticed on an idle connection, and the entry comes back with the line', async () => {
    const fixture = await httpFixture({ era })
    const line = await tcpLine(fixture.port)
    const on = await host()
    await mount(on, httpConfig(line.url, { livenessIntervalMs: 1000 }))
    line.freeze()
    const { error } = await on.status('one', 'reconnecting')
    expect(error).toContain('the server gave no sign of life for 1000 ms')
    line.thaw()
    line.reset()
    await on.status('one', 'connected')
    expect(on.text(await echo(on))).toBe('hi')
  })

  it('is noticed when a call times out on it', async () => {
    const fixture = await httpFixture({ era })
    const line = await tcpLine(fixture.port)
    const on = await host()
    await mount(on, httpConfig(line.url, { livenessIntervalMs: 1000, toolCallTimeoutMs: 100 }))
    line.freeze()
    expect(on.text(await echo(on))).toContain('did not answer within 100 ms')
    await on.status('one', 'reconnecting')
  })
})

function isResumption({ method, headers }: { method: string; headers: Record<string, unknown> }) {
  return method === 'GET' && headers['last-event-id'] !== undefined
}
