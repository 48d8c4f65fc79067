/** A session that the server forgot: a new one at once, and what was refused is sent again exactly once. */
import type { HttpFixture, HttpFixtureOptions, RecordedRequest } from '@dsh-mcp/fixtures'
import type { TestHost } from '@dsh-mcp/host'
import { describe, expect, it } from 'vitest'
import type { StreamableHttpConfig } from '../../src/index.ts'
import {
  failure,
  httpConfig,
  httpFixture,
  result,
  scriptedServer,
  sendJson,
  tcpLine,
  type Answer,
  type ScriptedServer,
} from '../http-support.ts'
import { eventually, host, mount } from '../support.ts'

async function connected(
  options: HttpFixtureOptions = {},
  more: Partial<StreamableHttpConfig> = {},
): Promise<{ fixture: HttpFixture; on: TestHost }> {
  const fixture = await httpFixture({ era: 'legacy', ...options })
  const on = await host()
  await mount(on, httpConfig(fixture.url, more))
  return { fixture, on }
}

async function scripted(
  script: Record<string, Answer> = {},
  more: Partial<StreamableHttpConfig> = {},
): Promise<{ server: ScriptedServer; on: TestHost }> {
  const server = await scriptedServer(script)
  const on = await host()
  await mount(on, httpConfig(server.url, more))
  return { server, on }
}

const call = (on: TestHost) => on.call('mcp__one__echo', {})

/** What a scripted server knows of sessions: each `initialize` makes one, and `forget` ends it. */
function sessionScript(refuse: Answer) {
  let sessions = 0
  const accepted = new Set<string>()
  const inSession =
    (answer: Answer): Answer =>
    (message, response, request) =>
      (accepted.has(String(request.headers['mcp-session-id'])) ? answer : refuse)(message, response, request)
  const script: Record<string, Answer> = {
    initialize: ({ id }, response) => {
      const session = `session-${++sessions}`
      accepted.add(session)
      const value = {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name: 'scripted', version: '1' },
      }
      sendJson(response, { jsonrpc: '2.0', id, result: value }, 200, { 'mcp-session-id': session })
    },
    ping: inSession(result({})),
    'tools/list': inSession(result({ tools: [{ name: 'echo', inputSchema: { type: 'object' } }] })),
    'tools/call': inSession(result({ content: [{ type: 'text', text: 'called' }] })),
  }
  return { script, forget: () => accepted.clear() }
}

/** A refusal by a server that did not read as far as the id of the request. */
const nameless =
  (status: number): Answer =>
  (_message, response) =>
    sendJson(
      response,
      { jsonrpc: '2.0', id: null, error: { code: -32_001, message: 'Session not found' } },
      status,
    )

describe('a session that the server forgot', () => {
  it('is replaced at once, and the refused call is executed exactly once', async () => {
    const { fixture, on } = await connected()
    fixture.forgetSessions()
    const answer = await on.call('mcp__one__echo', { message: 'hi' })
    expect(on.text(answer)).toBe('hi')
    expect(fixture.toolbox.calls.map(({ name }) => name)).toEqual(['echo'])
    expect(fixture.requestsFor('tools/call')).toHaveLength(2)
    expect(fixture.requestsFor('initialize')).toHaveLength(2)
    expect(on.statuses.kinds('one')).not.toContain('reconnecting')
  })

  it('comes with the catalog as it is now', async () => {
    const { fixture, on } = await connected()
    fixture.toolbox.configure({ tools: [{ name: 'fresh', inputSchema: { type: 'object' } }] })
    fixture.forgetSessions()
    await call(on)
    expect(on.toolNames()).toEqual(['mcp__one__fresh'])
  })

  it('changes nothing in the registry when the server lists the same tools', async () => {
    const { fixture, on } = await connected()
    const changes = on.toolChanges
    fixture.forgetSessions()
    await on.call('mcp__one__echo', { message: 'hi' })
    expect(on.toolChanges).toBe(changes)
  })

  it('is replaced where reconnection is off: a new session is no reconnection', async () => {
    const { fixture, on } = await connected({}, { reconnect: { enabled: false } })
    fixture.forgetSessions()
    expect(on.text(await on.call('mcp__one__echo', { message: 'hi' }))).toBe('hi')
    expect(on.statuses.latest('one')).toMatchObject({ status: 'connected' })
  })

  it('is not ended with a DELETE, neither then nor at disposal', async () => {
    const { fixture, on } = await connected()
    const [first] = fixture.sessions
    fixture.forgetSessions()
    await on.call('mcp__one__echo', { message: 'hi' })
    const [second] = fixture.sessions
    await on.dispose()
    const deleted = fixture.requests.filter(({ method }) => method === 'DELETE')
    expect(deleted.map(({ headers }) => headers['mcp-session-id'])).toEqual([second])
    expect(first).not.toBe(second)
  })

  it('is replaced for a resource request, too', async () => {
    const { default: Resources } = await import('@deepseek-ai/dsh-mcp-resources')
    const { fixture, on } = await connected()
    await on.mount(Resources)
    fixture.forgetSessions()
    const answer = await on.call('read_mcp_resource', { server: 'one', uri: 'fixture://text/greeting' })
    expect(on.text(answer)).toContain('Hello,\nworld.')
    expect(fixture.requestsFor('resources/read')).toHaveLength(2)
  })

  it('is noticed by the check of life on an idle connection', async () => {
    const { fixture, on } = await connected({}, { livenessIntervalMs: 1000 })
    fixture.forgetSessions()
    await eventually(() => expect(fixture.sessions).toHaveLength(1))
    await eventually(() => expect(on.statuses.latest('one')?.status).toBe('connected'))
    expect(on.statuses.kinds('one')).not.toContain('reconnecting')
  })

  it('is noticed when the server drops the event stream and refuses to open it again', async () => {
    const { fixture, on } = await connected()
    await eventually(() => expect(fixture.openStreams).toBe(1))
    fixture.forgetSessions()
    fixture.dropStreams()
    await eventually(() => expect(fixture.sessions).toHaveLength(1))
    expect(on.statuses.kinds('one')).not.toContain('reconnecting')
  })
})

describe('calls at the same time', () => {
  it('share one new session, and each is executed once', async () => {
    const { fixture, on } = await connected()
    fixture.forgetSessions()
    const messages = Array.from({ length: 20 }, (_, index) => `m${index}`)
    const answers = await Promise.all(messages.map((message) => on.call('mcp__one__echo', { message })))
    expect(answers.map((answer) => on.text(answer))).toEqual(messages)
    expect(fixture.requestsFor('initialize')).toHaveLength(2)
    const executed = fixture.toolbox.calls.map(({ arguments: args }) => (args as { message: string }).message)
    expect(executed.toSorted()).toEqual(messages.toSorted())
  })

  it('are not sent again when their outcome is unknown, and fail clearly', async () => {
    const { fixture, on } = await connected()
    const held = on.call('mcp__one__hold')
    await eventually(() => expect(fixture.toolbox.holding).toBe(1))
    fixture.forgetSessions()
    await on.call('mcp__one__echo', { message: 'hi' })
    const answer = await held
    expect(answer.isError).toBe(true)
    expect(on.text(answer)).toContain('the server no longer knows the session')
    expect(on.text(answer)).toContain('Whether the call took effect is unknown')
    const sent = fixture.requestsFor('tools/call').filter(isCallOf('hold'))
    expect(sent).toHaveLength(1)
  })

  it('are not held up by one that the server does not answer', async () => {
    const silent: Answer = () => {}
    const { script, forget } = sessionScript(failure(-32001, 'Session not found', 404))
    const { server, on } = await scripted(script)
    const answered = server.script['tools/call']!
    server.script['tools/call'] = silent
    const pending = call(on)
    await eventually(() => expect(server.count('tools/call')).toBe(1))
    server.script['tools/call'] = answered
    forget()
    expect(on.text(await call(on))).toBe('called')
    expect(on.text(await pending)).toContain('Whether the call took effect is unknown')
    expect(server.count('tools/call')).toBe(3)
  })
})

describe('a cancelled call', () => {
  it('does not wait for the new session', async () => {
    const { fixture, on } = await connected()
    const release = fixture.toolbox.holdRequests('tools/list')
    fixture.forgetSessions()
    const cancellation = new AbortController()
    const answer = on.call('mcp__one__echo', { message: 'hi' }, { signal: cancellation.signal })
    await eventually(() => expect(fixture.requestsFor('initialize')).toHaveLength(2))
    cancellation.abort()
    expect((await answer).isError).toBe(true)
    release()
    await eventually(() => expect(on.statuses.latest('one')?.status).toBe('connected'))
    expect(fixture.toolbox.calls).toEqual([])
  })

  it('that was cancelled before is not sent', async () => {
    const { fixture, on } = await connected()
    const release = fixture.toolbox.holdRequests('tools/list')
    fixture.forgetSessions()
    const first = on.call('mcp__one__echo', { message: 'hi' })
    await eventually(() => expect(fixture.requestsFor('initialize')).toHaveLength(2))
    const second = await on.call('mcp__one__echo', { message: 'no' }, { signal: AbortSignal.abort() })
    expect(second.isError).toBe(true)
    release()
    expect(on.text(await first)).toBe('hi')
    expect(fixture.toolbox.calls).toHaveLength(1)
  })

  it('does not wait longer than a call may take', async () => {
    const { fixture, on } = await connected({}, { toolCallTimeoutMs: 1500 })
    fixture.toolbox.holdRequests('tools/list')
    fixture.forgetSessions()
    const answer = await on.call('mcp__one__echo', { message: 'hi' })
    expect(on.text(answer)).toContain('The call was not sent')
    expect(on.text(answer)).toContain('is connecting now')
  })
})

describe('a server that forgets every session at once', () => {
  it('runs into the backoff, and the entry gives up', async () => {
    const { server, on } = await scripted(
      { 'tools/call': failure(-32001, 'Session not found', 404) },
      { reconnect: { initialDelayMs: 1, maxDelayMs: 1000, maxAttempts: 4 } },
    )
    const texts: string[] = []
    await eventually(async () => {
      texts.push(on.text(await call(on)))
      expect(on.statuses.latest('one')?.status).toBe('failed')
    })
    // The first connection, one new session at once, and the attempts of the outage.
    expect(server.count('initialize')).toBeLessThanOrEqual(6)
    expect(texts[0]).toContain('the server no longer knows the session')
    expect(on.toolNames()).toEqual([])
  })

  it('that serves in between is served by a new session each time', async () => {
    const { server, on } = await scripted()
    const answer = server.script['tools/call']!
    let calls = 0
    server.script['tools/call'] = (message, response, request) => {
      const serve = calls++ % 2 === 1 ? answer : failure(-32001, 'Session not found', 404)
      serve(message, response, request)
    }
    for (let round = 0; round < 5; round++) expect(on.text(await call(on))).toBe('called')
    expect(on.statuses.kinds('one')).not.toContain('reconnecting')
    expect(server.count('initialize')).toBe(6)
  })
})

describe.each<[string, Answer]>([
  ['404 without a body', (_message, response) => response.writeHead(404).end()],
  ['410', (_message, response) => response.writeHead(410).end('Gone')],
  ['404 with a JSON-RPC error', failure(-32001, 'Session not found', 404)],
  ['400 of the TypeScript SDK', failure(-32000, 'Bad Request: Server not initialized', 400)],
  ['400 of the Python SDK', failure(-32600, 'Bad Request: No valid session ID provided', 400)],
  ['400 of a gateway', (_message, response) => response.writeHead(400).end('Invalid or expired session')],
  [
    '401 of the Rust SDK',
    (_message, response) => response.writeHead(401).end('Unauthorized: Session not found'),
  ],
  ['422 of the Rust SDK', (_message, response) => response.writeHead(422).end('expect initialize request')],
  ['a JSON-RPC error -32000 in a 200', failure(-32000, 'No valid session ID provided')],
  ['a JSON-RPC error -32001 in a 200', failure(-32001, 'Session not found')],
  ['a JSON-RPC error -32600 in a 200', failure(-32600, 'Server not initialized')],
  ['a JSON-RPC error without an id in a 400', nameless(400)],
  ['a JSON-RPC error without an id in a 200', nameless(200)],
])('the refusal as %s', (_name, refuse) => {
  it('is recognised, and the call is executed once in the new session', async () => {
    const { script, forget } = sessionScript(refuse)
    const { server, on } = await scripted(script)
    forget()
    expect(on.text(await call(on))).toBe('called')
    expect(server.count('initialize')).toBe(2)
    expect(server.count('tools/call')).toBe(2)
  })
})

describe('an error that only reads like a lost session', () => {
  it('of an isError result is the tool’s', async () => {
    const { fixture, on } = await connected()
    const answer = await on.call('mcp__one__fail', { message: 'Session not found' })
    expect(on.text(answer)).toContain('Session not found')
    expect(fixture.requestsFor('initialize')).toHaveLength(1)
  })

  it.each([-32000, -32001, -32600, -32602, -32603])(
    'with code %d is the tool’s, and is not sent again',
    async (code) => {
      const { fixture, on } = await connected()
      const answer = await on.call('mcp__one__throw', { code, message: 'browser session not found' })
      expect(on.text(answer)).toContain('browser session not found')
      expect(answer.isError).toBe(true)
      expect(fixture.toolbox.calls).toHaveLength(1)
      expect(fixture.requestsFor('initialize')).toHaveLength(1)
      expect(on.statuses.latest('one')).toMatchObject({ status: 'connected' })
    },
  )

  it('costs no extra request where the code is not one of a transport', async () => {
    const { fixture, on } = await connected()
    await on.call('mcp__one__throw', { code: -32603, message: 'session not found' })
    expect(fixture.requestsFor('tools/list')).toHaveLength(1)
  })

  it('of a server without tools is told apart by a ping', async () => {
    const { default: Resources } = await import('@deepseek-ai/dsh-mcp-resources')
    const resources: Answer = failure(-32000, 'no session with that number')
    const { server, on } = await scripted({
      initialize: ({ id }, response) => {
        const value = {
          protocolVersion: '2025-11-25',
          capabilities: { resources: {} },
          serverInfo: { name: 's', version: '1' },
        }
        sendJson(response, { jsonrpc: '2.0', id, result: value }, 200, { 'mcp-session-id': 'session-1' })
      },
      'resources/read': resources,
    })
    await on.mount(Resources)
    const answer = await on.call('read_mcp_resource', { server: 'one', uri: 'x://y' })
    expect(on.text(answer)).toContain('no session with that number')
    expect(server.count('ping')).toBe(1)
    expect(server.count('initialize')).toBe(1)
  })
})

describe('another server in the place of the old one', () => {
  async function replaced(first: HttpFixtureOptions, second: HttpFixtureOptions) {
    const [before, after] = [await httpFixture(first), await httpFixture(second)]
    const line = await tcpLine(before.port)
    const on = await host()
    await mount(on, httpConfig(line.url))
    const { protocolVersion } = on.statuses.latest('one')!
    line.switchTo(after.port)
    await eventually(async () =>
      expect(on.text(await on.call('mcp__one__echo', { message: 'hi' }))).toBe('hi'),
    )
    return { from: protocolVersion, to: on.statuses.latest('one')?.protocolVersion }
  }

  it('that has sessions where there were none is spoken to anew', async () => {
    const versions = await replaced({ era: 'legacy', stateless: true }, { era: 'legacy' })
    expect(versions).toEqual({ from: '2025-11-25', to: '2025-11-25' })
  })

  it('that is older is spoken to in its own protocol', async () => {
    const versions = await replaced({ era: 'modern' }, { era: 'legacy' })
    expect(versions).toEqual({ from: '2026-07-28', to: '2025-11-25' })
  })

  it('that is newer is spoken to in its own protocol', async () => {
    const versions = await replaced({ era: 'legacy' }, { era: 'modern' })
    expect(versions).toEqual({ from: '2025-11-25', to: '2026-07-28' })
  })
})

function isCallOf(name: string) {
  return ({ body }: RecordedRequest) => (body as { params: { name: string } }).params.name === name
}
