/** Whether a connection lives: checks of life, and what the errors of requests are taken for. */
import type { InMemoryServer } from '@dsh-mcp/fixtures'
import { ProtocolError, SdkError, SdkErrorCode } from '@modelcontextprotocol/client'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { Generation } from '../../src/connection/generation.ts'
import { ListingError, MAX_LIST_ENTRIES } from '../../src/connection/listing.ts'
import { negotiate } from '../../src/connection/negotiation.ts'
import { ConnectionFailure } from '../../src/diagnostics/failure.ts'
import type { TransportVerdict } from '../../src/transport/types.ts'
import { memoryServer, MemoryTransport, noSecrets, turns, type MemoryFaults } from '../support.ts'

const ERAS = ['legacy', 'modern'] as const
const INTERVAL_MS = 10_000
const failure = new ConnectionFailure('it is gone')
const lostSession = new ConnectionFailure('the session is gone', { isSessionLost: true })

/** A transport without a process behind it, whose verdicts and silence a test decides. */
class RemoteTransport extends MemoryTransport {
  readonly hasPerRequestStream = true
  declare onresume?: () => void
  /** What errors are taken for; each is used once. */
  readonly verdicts: TransportVerdict[] = []
  isSilent = false
  settled = 0

  override async send(message: Parameters<MemoryTransport['send']>[0]): Promise<void> {
    if (!this.isSilent) await super.send(message)
  }

  override judge(error: unknown): TransportVerdict {
    const isTimeout = error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout
    return this.verdicts.shift() ?? (isTimeout ? { kind: 'unclear', error } : { kind: 'alive' })
  }

  async settle(): Promise<void> {
    this.settled++
  }
}

interface Connected {
  readonly server: InMemoryServer
  readonly transport: RemoteTransport
  readonly made: Generation
  readonly errors: unknown[]
  readonly changes: () => number
  /** How often the server got a method. */
  count(method: string): number
}

async function connected(
  era: (typeof ERAS)[number],
  livenessIntervalMs?: number,
  options = {},
  faults: MemoryFaults = {},
): Promise<Connected> {
  const server = await memoryServer({ era, ...options })
  const transport = new RemoteTransport(server, faults)
  const errors: unknown[] = []
  let changes = 0
  const made = new Generation({
    clientInfo: { name: 'test', version: '1' },
    transport,
    negotiation: negotiate('streamable-http', 'unknown', 0),
    livenessIntervalMs,
    redactor: noSecrets,
    events: { onToolsChanged: () => void changes++, onError: (error) => errors.push(error) },
  })
  onTestFinished(() => made.close())
  await made.connect()
  const count = (method: string) =>
    server.received.filter((message) => 'method' in message && message.method === method).length
  return { server, transport, made, errors, changes: () => changes, count }
}

/** From now on requests of a method fail. */
function failing(transport: RemoteTransport, method: string, error = new Error('an odd answer')): void {
  const send = transport.send.bind(transport)
  transport.send = async (message) => {
    if ('method' in message && message.method === method) throw error
    await send(message)
  }
}

const signOf = (era: string) => (era === 'modern' ? 'server/discover' : 'ping')

const settledOr = async (ended: Promise<ConnectionFailure>): Promise<ConnectionFailure | undefined> => {
  await turns()
  return await Promise.race([ended, Promise.resolve(undefined)])
}

const pass = async (ms: number) => await vi.advanceTimersByTimeAsync(ms)

afterEach(() => {
  vi.useRealTimers()
})

describe.each(ERAS)('an idle connection to a %s server', (era) => {
  async function idle(livenessIntervalMs: number | undefined) {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
    const state = await connected(era, livenessIntervalMs)
    const signs = state.count(signOf(era))
    // What was heard while connecting counts for the first interval.
    await pass(INTERVAL_MS)
    return { ...state, signs: () => state.count(signOf(era)) - signs }
  }

  it('is checked for life', async () => {
    const { made, signs } = await idle(INTERVAL_MS)
    expect(signs()).toBe(0)
    await pass(INTERVAL_MS)
    expect(signs()).toBe(1)
    // The answer to the check was heard, so the next interval is quiet again.
    await pass(INTERVAL_MS)
    expect(signs()).toBe(1)
    await pass(INTERVAL_MS)
    expect(signs()).toBe(2)
    expect(made.isOver).toBe(false)
  })

  it('is not checked where that is switched off', async () => {
    const { signs } = await idle(undefined)
    await pass(3_600_000)
    expect(signs()).toBe(0)
  })

  it('is not checked while there is other traffic', async () => {
    const { made, signs } = await idle(INTERVAL_MS)
    for (let round = 0; round < 10; round++) {
      await made.listTools()
      await pass(INTERVAL_MS)
    }
    expect(signs()).toBe(0)
  })

  it('is over when there is no sign of life', async () => {
    const { made, transport } = await idle(INTERVAL_MS)
    transport.isSilent = true
    await pass(2 * INTERVAL_MS)
    expect((await made.ended).message).toBe(`the server gave no sign of life for ${INTERVAL_MS} ms`)
    expect(made.isOver).toBe(true)
  })

  it('waits for a sign no longer than 30 s, however rarely it is checked', async () => {
    const { made, transport } = await idle(3_600_000)
    transport.isSilent = true
    await pass(2 * 3_600_000)
    await pass(30_000)
    expect((await made.ended).message).toBe('the server gave no sign of life for 30000 ms')
  })

  it('is not checked any more when it is over', async () => {
    const { made } = await idle(INTERVAL_MS)
    await made.close()
    expect(vi.getTimerCount()).toBe(0)
  })
})

it('a connection that ended while it was made is not checked', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
  const endOn = { method: 'notifications/initialized', failure }
  const { made } = await connected('legacy', INTERVAL_MS, {}, { endOn })
  expect(made.isOver).toBe(true)
  expect(vi.getTimerCount()).toBe(0)
})

it('a connection with a process behind it is not checked: the exit of that is seen', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
  const server = await memoryServer({ era: 'legacy' })
  const made = new Generation({
    clientInfo: { name: 'test', version: '1' },
    transport: new MemoryTransport(server),
    negotiation: negotiate('stdio', 'unknown', 0),
    livenessIntervalMs: INTERVAL_MS,
    redactor: noSecrets,
    events: { onToolsChanged: () => {}, onError: () => {} },
  })
  onTestFinished(() => made.close())
  await made.connect()
  const before = server.received.length
  await pass(10 * INTERVAL_MS)
  expect(server.received).toHaveLength(before)
})

describe.each(ERAS)('an error of a request to a %s server', (era) => {
  const error = new Error('a request failed')

  it('that leaves the connection alone is the request’s', async () => {
    const { made } = await connected(era)
    expect(await made.judge(error)).toEqual({ isLost: false, error })
    expect(made.isOver).toBe(false)
  })

  it('is passed on in better words where there are any', async () => {
    const { made, transport } = await connected(era)
    const better = new Error('in better words')
    transport.verdicts.push({ kind: 'alive', error: better })
    expect(await made.judge(error)).toEqual({ isLost: false, error: better })
  })

  it('that says that the connection is lost ends it', async () => {
    const { made, transport } = await connected(era)
    transport.verdicts.push({ kind: 'lost', failure })
    expect(await made.judge(error)).toEqual({ isLost: true, error: failure })
    expect(await made.ended).toBe(failure)
    expect(made.isOver).toBe(true)
  })

  it('that ended the connection is what everything else failed of that was running', async () => {
    const { made, transport, server } = await connected(era)
    const release = server.toolbox.holdRequests('tools/list')
    const listing = made.listTools().catch((aborted: unknown) => made.explain(aborted, 'while listing'))
    transport.verdicts.push({ kind: 'lost', failure })
    await made.judge(error)
    expect(await listing).toBe(failure)
    release()
  })

  it('that leaves it open makes the server be asked, once for all that ask, and nobody waits', async () => {
    const { made, transport, count } = await connected(era)
    const before = count(signOf(era))
    transport.verdicts.push({ kind: 'unclear', error }, { kind: 'unclear', error })
    expect(await Promise.all([made.judge(error), made.judge(error)])).toEqual([
      { isLost: false, error },
      { isLost: false, error },
    ])
    await turns()
    expect(count(signOf(era))).toBe(before + 1)
    expect(made.isOver).toBe(false)
  })

  it.each<[string, TransportVerdict, ConnectionFailure | undefined]>([
    ['is lost', { kind: 'lost', failure }, failure],
    ['refuses to give a sign of life', { kind: 'alive' }, undefined],
  ])('that leaves it open ends it or not when the server then %s', async (_what, verdict, expected) => {
    const { made, transport } = await connected(era)
    transport.verdicts.push({ kind: 'unclear', error }, verdict)
    failing(transport, signOf(era))
    await made.judge(error)
    expect(await settledOr(made.ended)).toBe(expected)
  })

  it('that leaves it open ends it when the server is not to be reached', async () => {
    const { made, transport, count } = await connected(era)
    transport.verdicts.push({ kind: 'unclear', error }, { kind: 'unclear', error: failure })
    failing(transport, signOf(era), failure)
    await made.judge(error)
    expect(await made.ended).toBe(failure)
    expect(count('tools/list')).toBe(0)
  })

  it('that leaves it open leaves the last word to the tools, when the sign of life is answered by anything else', async () => {
    const { made, transport, count } = await connected(era)
    transport.verdicts.push({ kind: 'unclear', error }, { kind: 'unclear', error: failure })
    failing(transport, signOf(era))
    await made.judge(error)
    await turns()
    expect(count('tools/list')).toBe(1)
    expect(made.isOver).toBe(false)
  })

  it('that leaves it open ends it when the tools are not answered for either', async () => {
    const { made, transport } = await connected(era)
    const later = new ConnectionFailure('a page instead of tools')
    transport.verdicts.push(
      { kind: 'unclear', error },
      { kind: 'unclear', error: failure },
      { kind: 'unclear', error: later },
    )
    failing(transport, signOf(era))
    failing(transport, 'tools/list')
    await made.judge(error)
    expect(await made.ended).toBe(later)
  })

  it('that leaves it open ends it when there are no tools to have the last word', async () => {
    const { made, transport } = await connected(era, undefined, { noTools: true })
    transport.verdicts.push({ kind: 'unclear', error }, { kind: 'unclear', error: failure })
    failing(transport, signOf(era))
    await made.judge(error)
    expect(await made.ended).toBe(failure)
  })

  it('that comes after the end has an unknown outcome', async () => {
    const { made, transport } = await connected(era)
    transport.verdicts.push({ kind: 'lost', failure: lostSession })
    await made.judge(error)
    for (const verdict of [
      { kind: 'alive' },
      { kind: 'unclear', error },
      { kind: 'lost', failure },
    ] as TransportVerdict[]) {
      transport.verdicts.push(verdict)
      const judged = await made.judge(new SdkError(SdkErrorCode.ConnectionClosed, 'closed'))
      expect(judged.isLost).toBe(true)
      expect(judged.error).toMatchObject({ message: 'the session is gone', isSessionLost: false })
    }
  })

  it('that comes after another end has that for its reason, and was not left unsent like the request that met it', async () => {
    const { made, transport } = await connected(era)
    const unsent = new ConnectionFailure('nothing listens', { isUnsent: true })
    transport.verdicts.push({ kind: 'lost', failure: unsent })
    expect((await made.judge(error)).error).toBe(unsent)
    const later = await made.judge(error)
    expect(later.error).toMatchObject({ message: 'nothing listens', isUnsent: false })
  })

  it('that is the server’s answer stands after the end, too', async () => {
    const { made } = await connected(era)
    await made.close()
    const answer = new ProtocolError(-32_602, 'no such tool')
    expect(await made.judge(answer)).toEqual({ isLost: false, error: answer })
  })
})

describe.each(ERAS)('a refusal that may be for a lost session, of a %s server', (era) => {
  const error = new Error('session not found')
  const confirm = () => lostSession
  const doubt: TransportVerdict = { kind: 'session-doubt', error, confirm }

  it('is the request’s own when another request is answered', async () => {
    const { made, transport, count } = await connected(era)
    transport.verdicts.push(doubt)
    expect(await made.judge(error)).toEqual({ isLost: false, error })
    expect(count('tools/list')).toBe(1)
    expect(made.isOver).toBe(false)
  })

  it('is for a lost session when another request is refused like that, and all that ask share one', async () => {
    const { made, transport, server, count } = await connected(era)
    server.toolbox.configure({ failList: true })
    transport.verdicts.push(doubt, doubt, doubt)
    const judged = await Promise.all([made.judge(error), made.judge(error)])
    for (const each of judged) expect(each).toEqual({ isLost: true, error: lostSession })
    expect(count('tools/list')).toBe(1)
    expect(await made.ended).toBe(lostSession)
  })

  it('is for a lost session when another request is told so plainly', async () => {
    const { made, transport, server } = await connected(era)
    server.toolbox.configure({ failList: true })
    transport.verdicts.push(doubt, { kind: 'lost', failure: lostSession })
    expect(await made.judge(error)).toEqual({ isLost: true, error: lostSession })
  })

  it.each<TransportVerdict>([
    { kind: 'alive' },
    { kind: 'unclear', error: failure },
    { kind: 'lost', failure },
  ])('is the request’s own when another request fails for another reason: %j', async (verdict) => {
    const { made, transport, server } = await connected(era)
    server.toolbox.configure({ failList: true })
    transport.verdicts.push(doubt, verdict)
    expect(await made.judge(error)).toEqual({ isLost: false, error })
  })

  it('needs no other request when the session is known to be lost', async () => {
    const { made, transport, count } = await connected(era)
    transport.verdicts.push({ kind: 'lost', failure: lostSession }, doubt)
    await made.judge(error)
    expect(await made.judge(error)).toEqual({ isLost: true, error: lostSession })
    expect(count('tools/list')).toBe(0)
  })

  it('is checked with a sign of life where there are no tools', async () => {
    const { made, transport, count } = await connected(era, undefined, { noTools: true })
    const before = count(signOf(era))
    transport.verdicts.push(doubt)
    expect(await made.judge(error)).toEqual({ isLost: false, error })
    expect(count(signOf(era))).toBe(before + 1)
  })

  it('of a check of life is checked as well', async () => {
    const { made, transport, server } = await connected(era)
    server.toolbox.configure({ failList: true })
    failing(transport, signOf(era))
    transport.verdicts.push({ kind: 'unclear', error }, doubt, { kind: 'alive' })
    await made.judge(error)
    await turns()
    expect(made.isOver).toBe(false)
    transport.verdicts.push({ kind: 'unclear', error }, doubt, doubt)
    await made.judge(error)
    expect(await made.ended).toBe(lostSession)
  })

  it('lets what the server is about to refuse be refused, before the connection is closed', async () => {
    const { made, transport } = await connected(era)
    transport.verdicts.push({ kind: 'lost', failure: lostSession })
    await made.judge(error)
    await made.close()
    expect(transport.settled).toBeGreaterThan(0)
  })

  it('is the only reason to wait for refusals', async () => {
    const { made, transport } = await connected(era)
    transport.verdicts.push({ kind: 'lost', failure })
    await made.judge(error)
    await made.close()
    expect(transport.settled).toBe(0)
  })
})

describe('an error outside of every request', () => {
  it('of the transport is judged like one', async () => {
    const { made, transport, errors } = await connected('legacy')
    transport.verdicts.push({ kind: 'lost', failure })
    transport.onerror?.(new Error('SSE stream disconnected'))
    expect(await made.ended).toBe(failure)
    expect(errors.map(String)).toEqual(['Error: SSE stream disconnected'])
  })

  it('of the protocol is not: a server may answer what nobody asked as often as it likes', async () => {
    const { transport, errors, count } = await connected('legacy')
    transport.verdicts.push({ kind: 'unclear', error: failure })
    for (let id = 1000; id < 1100; id++) transport.onmessage?.({ jsonrpc: '2.0', id, result: {} })
    await turns()
    expect(errors).toHaveLength(100)
    expect(count('ping')).toBe(0)
  })

  it.each([
    ['no JSON', new SyntaxError('Unexpected token')],
    ['no message', Object.assign(new Error('Invalid input'), { issues: [] })],
  ])('about something that is %s is only passed on', async (_what, unreadable) => {
    const { transport, errors } = await connected('legacy')
    transport.verdicts.push({ kind: 'lost', failure })
    transport.onerror?.(unreadable)
    await turns()
    expect(errors).toEqual([unreadable])
    expect(transport.verdicts).toHaveLength(1)
  })

  it('is only passed on before there is a connection, and after it', async () => {
    const { made, transport } = await connected('legacy')
    await made.close()
    transport.verdicts.push({ kind: 'lost', failure })
    transport.onerror?.(new Error('late'))
    await turns()
    expect(transport.verdicts).toHaveLength(1)
  })
})

describe.each(ERAS)('a list of tools of a %s server', (era) => {
  it('whose pages are slow without end is given up after two minutes', async () => {
    vi.useFakeTimers({
      toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'],
    })
    const tools = Array.from({ length: 100 }, (_, index) => ({
      name: `t${index}`,
      inputSchema: { type: 'object' },
    }))
    const { made } = await connected(era, undefined, { tools, pageSize: 1, listDelayMs: 30_000 })
    const outcome = made.listTools().catch((error: unknown) => error)
    await pass(119_999)
    expect(made.isOver).toBe(false)
    await pass(1)
    expect(await outcome).toEqual(new ListingError("the server's list of tools took longer than 120000 ms"))
  })
})

describe.each(ERAS)('a list of tools of a %s server whose pages', (era) => {
  /** Answer requests for the list with what a function makes of the cursor. */
  function paging(
    transport: RemoteTransport,
    page: (cursor: unknown) => [tool: string, nextCursor: string],
  ): void {
    const send = transport.send.bind(transport)
    transport.send = async (message) => {
      if (!('method' in message && 'id' in message && message.method === 'tools/list'))
        return await send(message)
      const [name, nextCursor] = page(message.params?.['cursor'])
      const tools = [{ name, inputSchema: { type: 'object' } }]
      const result = { resultType: 'complete', ttlMs: 0, cacheScope: 'private', tools, nextCursor }
      transport.onmessage?.({ jsonrpc: '2.0', id: message.id, result })
    }
  }

  it.each<[string, (cursor: unknown) => [string, string]]>([
    ['go on for ever', (cursor) => [`t${String(cursor)}`, `${Number(cursor ?? 0) + 1}`]],
    ['go in a circle', (cursor) => (cursor === 'b' ? ['b', 'a'] : ['a', 'b'])],
  ])('%s is given up', async (_how, page) => {
    const { made, transport } = await connected(era)
    paging(transport, page)
    await expect(made.listTools()).rejects.toThrow('pagination did not terminate')
  })

  it('repeat the last one ends with that', async () => {
    const { made, transport } = await connected(era)
    paging(transport, () => ['same', 'again'])
    const { tools } = await made.listTools()
    expect(tools.map(({ name }) => name)).toEqual(['same'])
  })
})

describe.each(ERAS)('the tools of a %s server', (era) => {
  it('are listed ten times in a row at once, and then once a second', async () => {
    vi.useFakeTimers({
      toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'],
    })
    const { made, server } = await connected(era)
    for (let count = 0; count < 10; count++) await made.listTools()
    const next = made.listTools()
    await pass(999)
    expect(server.toolbox.listRequests).toBe(10)
    await pass(1)
    await next
    expect(server.toolbox.listRequests).toBe(11)
  })
})

describe.each(ERAS)('any list of a %s server', (era) => {
  it('is collected within bounds', async () => {
    const { made } = await connected(era)
    const run = (signal: AbortSignal) => made.client.listResources(undefined, { signal })
    const { resources } = await made.list('resources', run, new AbortController().signal, 1000)
    expect(resources).toHaveLength(5)
  })

  it('fails beyond them', async () => {
    const resources = Array.from({ length: MAX_LIST_ENTRIES + 1 }, () => ({ uri: 'a:b', name: 'b' }))
    const { made } = await connected(era, undefined, { resources })
    const run = (signal: AbortSignal) => made.client.listResources(undefined, { signal })
    const listing = made.list('resources', run, new AbortController().signal, 60_000)
    await expect(listing).rejects.toThrow("the server's list of resources has more than")
  })
})

describe('notifications that may have been missed', () => {
  it('are made up for with a new list', async () => {
    const { made, transport, changes } = await connected('legacy')
    await made.listTools()
    transport.onresume?.()
    expect(changes()).toBe(1)
  })

  it('are none of a server that never announces a change', async () => {
    const { made, transport, changes } = await connected('legacy', undefined, { noTools: true })
    await made.listTools()
    transport.onresume?.()
    expect(changes()).toBe(0)
  })

  it('are none before the first list', async () => {
    const { transport, changes } = await connected('legacy')
    transport.onresume?.()
    expect(changes()).toBe(0)
  })
})

describe('a subscription that cannot be opened', () => {
  it('is passed on, and the connection does without', async () => {
    const server = await memoryServer({ era: 'modern' })
    const transport = new RemoteTransport(server)
    const send = transport.send.bind(transport)
    transport.send = async (message) => {
      if ('method' in message && message.method === 'subscriptions/listen') throw new Error('too many')
      await send(message)
    }
    const errors: unknown[] = []
    const made = new Generation({
      clientInfo: { name: 'test', version: '1' },
      transport,
      negotiation: negotiate('streamable-http', 'unknown', 0),
      livenessIntervalMs: undefined,
      redactor: noSecrets,
      events: { onToolsChanged: () => {}, onError: (error) => errors.push(error) },
    })
    onTestFinished(() => made.close())
    await made.connect()
    expect(errors.map(String)).toEqual(['Error: too many'])
    expect((await made.listTools()).tools.length).toBeGreaterThan(0)
  })
})
