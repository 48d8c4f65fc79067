import type { InMemoryServer, InMemoryServerOptions } from '@dsh-mcp/fixtures'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { ResolvedReconnect } from '../../src/config/resolve.ts'
import { Generation } from '../../src/connection/generation.ts'
import { LEGACY_NEGOTIATION, type Negotiation } from '../../src/connection/negotiation.ts'
import type { ConnectionState } from '../../src/connection/state.ts'
import { Supervisor, type SupervisorParts } from '../../src/connection/supervisor.ts'
import { ConnectionFailure } from '../../src/diagnostics/failure.ts'
import { eventually, memoryServer, MemoryTransport, noSecrets, turns, type MemoryFaults } from '../support.ts'

const FAR = 3_600_000
const never = new AbortController().signal
const refused = new ConnectionFailure('no such command')
const exited = new ConnectionFailure('the server process exited with code 1', { hasExited: true })
const lostSession = new ConnectionFailure('the server forgot the session', { isSessionLost: true })

/** A supervisor of an in-memory server, and everything that it did. */
class Supervised {
  readonly supervisor: Supervisor
  readonly states: ConnectionState[] = []
  readonly negotiations: Negotiation[] = []
  readonly generations: Generation[] = []
  readonly transports: MemoryTransport[] = []
  readonly adopted: Generation[] = []
  /** What was done, in order. */
  readonly log: string[] = []
  readonly syncFailures: unknown[] = []
  readonly errors: unknown[] = []
  /** The names that the last sync took over. */
  tools: string[] = []
  /** Faults of the connections to come; the last one stays. */
  faults: MemoryFaults[] = [{}]
  readonly server: InMemoryServer

  constructor(server: InMemoryServer, policy: Partial<ResolvedReconnect>, parts: Partial<SupervisorParts>) {
    this.server = server
    this.supervisor = new Supervisor({
      serverName: 'one',
      transport: 'stdio',
      policy: { enabled: true, initialDelayMs: 1, maxDelayMs: FAR, maxAttempts: 10, ...policy },
      isStartFatal: false,
      callTimeoutMs: 60_000,
      makeGeneration: (negotiation, events) => {
        const transport = new MemoryTransport(server, this.faults[0])
        if (this.faults.length > 1) this.faults.shift()
        this.negotiations.push(negotiation)
        this.transports.push(transport)
        const generation = new Generation({
          clientInfo: { name: 'test', version: '1' },
          transport,
          negotiation,
          livenessIntervalMs: undefined,
          redactor: noSecrets,
          events,
        })
        this.log.push(`make ${this.generations.push(generation)}`)
        void generation.ended.then(() => this.log.push(`end ${this.generations.indexOf(generation) + 1}`))
        return generation
      },
      admit: () => void this.log.push('admit'),
      sync: async (generation) => {
        this.log.push('sync')
        const { tools } = await generation.listTools()
        if (generation.isOver) throw await generation.ended
        this.tools = tools.map(({ name }) => name)
      },
      adopt: (generation) => {
        this.log.push('adopt')
        this.adopted.push(generation)
      },
      withdraw: () => {
        this.log.push('withdraw')
        this.tools = []
      },
      publish: (state) => {
        this.log.push(state.kind)
        this.states.push(state)
      },
      reportSync: (_, error) => this.syncFailures.push(error),
      reportError: (_, error) => this.errors.push(error),
      ...parts,
    })
    onTestFinished(async () => {
      if (this.state !== 'disposed') await this.supervisor.dispose()
    })
  }

  get state(): string | undefined {
    return this.supervisor.state?.kind
  }

  get live(): Generation {
    return this.adopted.at(-1)!
  }

  get kinds(): string[] {
    return this.states.map(({ kind }) => kind)
  }

  /** Wait until the connection is in a state. */
  async reaches(kind: ConnectionState['kind']): Promise<void> {
    await eventually(() => {
      if (this.state !== kind) throw new Error(`the connection is ${this.state}, not ${kind}`)
    })
  }

  /** End the live connection from the server's side. */
  async crash(): Promise<void> {
    await this.server.closeConnections()
  }

  echo(message: string): Promise<unknown> {
    const tool = { name: 'echo', inputSchema: { type: 'object' as const } }
    return this.supervisor.use((generation) => generation.callTool(tool, { message }, {}), never)
  }
}

async function supervised(
  policy: Partial<ResolvedReconnect> = {},
  parts: Partial<SupervisorParts> = {},
  server: InMemoryServerOptions = {},
): Promise<Supervised> {
  return new Supervised(await memoryServer(server), policy, parts)
}

describe('the start', () => {
  it('is the first connection, looked at before it is used, and the first sync', async () => {
    const at = await supervised()
    expect(at.supervisor.state).toBeUndefined()
    await at.supervisor.start()
    expect(at.log).toEqual(['connecting', 'make 1', 'admit', 'sync', 'connecting', 'adopt', 'connected'])
    expect(at.states[0]).toMatchObject({ cause: 'start', attempt: 1 })
    expect(at.supervisor.state).toEqual({ kind: 'connected', generation: at.live })
    expect(at.tools).toContain('echo')
  })

  it('that fails is followed by a wait, and says why and when', async () => {
    const at = await supervised({ initialDelayMs: FAR })
    at.faults = [{ start: refused }]
    const before = Date.now()
    await at.supervisor.start()
    expect(at.log).toEqual(['connecting', 'make 1', 'end 1', 'backoff'])
    expect(at.supervisor.state).toMatchObject({ kind: 'backoff', attempt: 2, failure: refused })
    const { nextAttemptAt } = at.supervisor.state as ConnectionState & { kind: 'backoff' }
    expect(nextAttemptAt).toBeGreaterThanOrEqual(before + FAR)
    expect(nextAttemptAt).toBeLessThanOrEqual(Date.now() + FAR)
  })

  it('that fails is the end where that is asked for', async () => {
    const at = await supervised({}, { isStartFatal: true })
    at.faults = [{ start: refused }]
    await at.supervisor.start()
    expect(at.supervisor.state).toEqual({ kind: 'failed', failure: refused })
    expect(at.log).toEqual(['connecting', 'make 1', 'end 1', 'failed', 'withdraw', 'failed'])
  })

  it('is not fatal later, when a connection is lost', async () => {
    const at = await supervised({}, { isStartFatal: true })
    await at.supervisor.start()
    at.faults = [{ start: refused }, {}]
    await at.crash()
    await eventually(() => expect(at.adopted).toHaveLength(2))
    expect(at.kinds).not.toContain('failed')
  })

  it('fails when the entry does not want the connection', async () => {
    const admit = () => {
      throw refused
    }
    const at = await supervised({ initialDelayMs: FAR }, { admit })
    await at.supervisor.start()
    expect(at.supervisor.state).toMatchObject({ kind: 'backoff', failure: refused })
    expect(at.log).not.toContain('sync')
    expect(at.generations[0]!.isOver).toBe(true)
  })

  it('fails when the first sync does, and says what was going on', async () => {
    const at = await supervised({ initialDelayMs: FAR }, {}, { failList: true })
    await at.supervisor.start()
    expect(at.supervisor.state).toMatchObject({
      kind: 'backoff',
      failure: { message: expect.stringMatching(/the list is not available while the tools were listed$/u) },
    })
    expect(at.adopted).toEqual([])
    expect(at.generations[0]!.isOver).toBe(true)
  })

  it('fails when the connection ends right after the first sync', async () => {
    const at = await supervised({ initialDelayMs: FAR }, { sync: async () => await at.crash() })
    await at.supervisor.start()
    expect(at.supervisor.state).toMatchObject({
      kind: 'backoff',
      failure: { message: 'the server closed the connection' },
    })
    expect(at.adopted).toEqual([])
  })

  it('fails when there is nothing to make a connection with', async () => {
    const makeGeneration = () => {
      throw new TypeError('not a folder')
    }
    const at = await supervised({ initialDelayMs: FAR }, { makeGeneration })
    await at.supervisor.start()
    expect(at.supervisor.state).toMatchObject({ failure: { message: 'TypeError: not a folder' } })
  })
})

describe('attempts', () => {
  it('go on until the budget is used up; then everything is taken back, and that is told twice', async () => {
    const at = await supervised({ maxAttempts: 3 })
    at.faults = [{ start: refused }]
    await at.supervisor.start()
    await at.reaches('failed')
    expect(at.generations).toHaveLength(3)
    expect(at.states.map((state) => [state.kind, 'attempt' in state && state.attempt])).toEqual([
      ['connecting', 1],
      ['backoff', 2],
      ['connecting', 2],
      ['backoff', 3],
      ['connecting', 3],
      ['failed', false],
      ['failed', false],
    ])
    expect(at.log.slice(-3)).toEqual(['failed', 'withdraw', 'failed'])
  })

  it('are one when the budget is one', async () => {
    const at = await supervised({ maxAttempts: 1 })
    at.faults = [{ start: refused }]
    await at.supervisor.start()
    expect(at.kinds).toEqual(['connecting', 'failed', 'failed'])
  })

  it('are one where reconnection is off', async () => {
    const at = await supervised({ enabled: false })
    at.faults = [{ start: refused }]
    await at.supervisor.start()
    expect(at.kinds).toEqual(['connecting', 'failed'])
  })

  it('come one after the other: nothing of the last connection is left when the next is made', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const at = await supervised()
    at.faults = [{ closing: () => promise }, {}]
    await at.supervisor.start()
    await at.crash()
    await at.reaches('connecting')
    await turns(10)
    expect(at.generations).toHaveLength(1)
    resolve()
    await at.reaches('connected')
    expect(at.generations).toHaveLength(2)
  })

  it('wait at least as long as the server asked for', async () => {
    const at = await supervised()
    at.faults = [{ start: new ConnectionFailure('busy', { retryAfterMs: FAR / 2 }) }]
    const before = Date.now()
    await at.supervisor.start()
    const { nextAttemptAt } = at.supervisor.state as ConnectionState & { kind: 'backoff' }
    expect(nextAttemptAt).toBeGreaterThanOrEqual(before + FAR / 2)
  })

  it('do not keep the process alive', async () => {
    const at = await supervised({ initialDelayMs: FAR })
    at.faults = [{ start: refused }]
    const timers = () => process.getActiveResourcesInfo().filter((type) => type === 'Timeout').length
    const before = timers()
    await at.supervisor.start()
    expect(at.state).toBe('backoff')
    expect(timers()).toBeLessThanOrEqual(before)
  })
})

describe('a lost connection', () => {
  it('is made again, and the catalog is synced again', async () => {
    const at = await supervised()
    await at.supervisor.start()
    const start = at.log.length
    at.server.toolbox.configure({ tools: [{ name: 'other', inputSchema: { type: 'object' } }] })
    await at.crash()
    await eventually(() => expect(at.adopted).toHaveLength(2))
    expect(at.log.slice(start).filter((entry) => !entry.startsWith('end'))).toEqual([
      'backoff',
      'connecting',
      'make 2',
      'admit',
      'sync',
      'connecting',
      'adopt',
      'connected',
    ])
    expect(at.tools).toEqual(['other'])
    expect(at.states.find(({ kind }) => kind === 'backoff')).toMatchObject({
      attempt: 2,
      failure: { message: 'the server closed the connection' },
    })
  })

  it('takes nothing back where reconnection is off', async () => {
    const at = await supervised({ enabled: false })
    await at.supervisor.start()
    await at.crash()
    await at.reaches('failed')
    expect(at.log).not.toContain('withdraw')
    expect(at.tools).toContain('echo')
    expect(at.kinds.filter((kind) => kind === 'failed')).toHaveLength(1)
  })

  it('that lasted goes on with a full budget', async () => {
    const at = await supervised({ initialDelayMs: 0, maxDelayMs: 0, maxAttempts: 1 })
    await at.supervisor.start()
    for (let crash = 1; crash <= 3; crash++) {
      await at.crash()
      await eventually(() => expect(at.adopted).toHaveLength(crash + 1))
    }
    expect(at.state).toBe('connected')
  })

  it('that did not last is a failed attempt of the same outage', async () => {
    const at = await supervised({ maxAttempts: 3 })
    await at.supervisor.start()
    await at.crash()
    await eventually(() => expect(at.adopted).toHaveLength(2))
    await at.crash()
    await eventually(() => expect(at.adopted).toHaveLength(3))
    expect(at.states.filter(({ kind }) => kind === 'backoff')).toMatchObject([{ attempt: 2 }, { attempt: 3 }])
    await at.crash()
    await at.reaches('failed')
    expect(at.tools).toEqual([])
  })

  it('is one loss, however often it is told', async () => {
    const at = await supervised({ initialDelayMs: FAR })
    await at.supervisor.start()
    const lost = at.echo('late').catch((error: unknown) => error)
    await at.crash()
    await at.reaches('backoff')
    await lost
    await turns()
    expect(at.kinds.filter((kind) => kind === 'backoff')).toHaveLength(1)
  })
})

describe('the era of a server', () => {
  it('is remembered when it is legacy, for as long as attempts succeed', async () => {
    const at = await supervised({}, {}, { era: 'legacy' })
    await at.supervisor.start()
    await at.crash()
    await eventually(() => expect(at.adopted).toHaveLength(2))
    at.faults = [{ start: refused }, {}]
    await at.crash()
    await eventually(() => expect(at.adopted).toHaveLength(3))
    expect(at.negotiations.map((each) => each === LEGACY_NEGOTIATION)).toEqual([false, true, true, false])
  })

  it('is not remembered when it is modern, because the offer is the handshake there', async () => {
    const at = await supervised()
    await at.supervisor.start()
    await at.crash()
    await eventually(() => expect(at.adopted).toHaveLength(2))
    expect(at.negotiations).not.toContain(LEGACY_NEGOTIATION)
  })

  it('is legacy for a process that exits when it is offered the modern one, within the same attempt', async () => {
    const at = await supervised({}, {}, { era: 'legacy' })
    at.faults = [{ endOn: { method: 'server/discover', failure: exited } }, {}]
    await at.supervisor.start()
    expect(at.kinds).toEqual(['connecting', 'connecting', 'connected'])
    expect(at.negotiations.map((each) => each === LEGACY_NEGOTIATION)).toEqual([false, true])
  })

  it('is not tried again on a process that exits without being offered anything', async () => {
    const at = await supervised({}, {}, { era: 'legacy' })
    await at.supervisor.start()
    at.faults = [{ endOn: { method: 'initialize', failure: exited } }]
    await at.crash()
    const backoffs = () => at.log.flatMap((entry, index) => (entry === 'backoff' ? [index] : []))
    await eventually(() => expect(backoffs().length).toBeGreaterThan(1))
    const between = at.log.slice(...backoffs().slice(0, 2))
    expect(between.filter((entry) => entry.startsWith('make'))).toEqual(['make 2'])
    expect(at.negotiations[1]).toBe(LEGACY_NEGOTIATION)
  })

  it('is no reason for another attempt when the process exits both times; the first exit is told', async () => {
    const at = await supervised({ initialDelayMs: FAR })
    const again = new ConnectionFailure('it exited again', { hasExited: true })
    at.faults = [
      { endOn: { method: 'server/discover', failure: exited } },
      { endOn: { method: 'initialize', failure: again } },
    ]
    await at.supervisor.start()
    expect(at.generations).toHaveLength(2)
    expect(at.supervisor.state).toMatchObject({
      failure: { message: 'the server process exited with code 1 while connecting' },
    })
  })
})

describe('a change of the list', () => {
  it('is synced, and told as the same state', async () => {
    const at = await supervised()
    await at.supervisor.start()
    at.server.toolbox.setTools({ remove: ['echo'] })
    await eventually(() => expect(at.tools).not.toContain('echo'))
    await eventually(() => expect(at.kinds.slice(-2)).toEqual(['connected', 'connected']))
    expect(at.generations).toHaveLength(1)
  })

  it.each(['legacy', 'modern'] as const)(
    'costs a %s server two lists at most, however often it is told',
    async (era) => {
      const at = await supervised({}, {}, { era })
      await at.supervisor.start()
      const before = at.server.toolbox.listRequests
      at.server.toolbox.notifyToolListChanged(10_000)
      at.server.toolbox.setTools({ remove: ['echo'] })
      await eventually(() => expect(at.tools).not.toContain('echo'))
      await turns(10)
      expect(at.server.toolbox.listRequests - before).toBeLessThanOrEqual(2)
    },
    60_000,
  )

  it('that cannot be taken over is reported, and changes no state', async () => {
    const at = await supervised()
    await at.supervisor.start()
    at.server.toolbox.configure({ failList: 1 })
    at.server.toolbox.setTools({ remove: ['echo'] })
    await eventually(() =>
      expect(at.syncFailures.map(String)).toEqual([expect.stringContaining('not available')]),
    )
    expect(at.tools).toContain('echo')
    expect(at.state).toBe('connected')
    at.server.toolbox.notifyToolListChanged()
    await eventually(() => expect(at.tools).not.toContain('echo'))
  })

  it('that the end of the connection interrupts is not reported: the next one syncs anyway', async () => {
    const at = await supervised()
    await at.supervisor.start()
    const release = at.server.toolbox.holdRequests('tools/list')
    at.server.toolbox.notifyToolListChanged()
    await eventually(() => expect(at.log.filter((entry) => entry === 'sync')).toHaveLength(2))
    await at.crash()
    release()
    await eventually(() => expect(at.adopted).toHaveLength(2))
    expect(at.syncFailures).toEqual([])
  })
})

describe('a request', () => {
  it('goes to the live connection', async () => {
    const at = await supervised()
    await at.supervisor.start()
    expect(await at.echo('hi')).toMatchObject({ content: [{ text: 'hi' }] })
    await at.crash()
    await eventually(() => expect(at.adopted).toHaveLength(2))
    expect(await at.echo('again')).toMatchObject({ content: [{ text: 'again' }] })
  })

  it('fails at once while there is no connection, in every state', async () => {
    const at = await supervised({ initialDelayMs: FAR, maxAttempts: 2 })
    await expect(at.echo('hi')).rejects.toThrow('is no longer available')
    at.faults = [{ swallow: 'server/discover' }, { start: refused }]
    const start = at.supervisor.start()
    await expect(at.echo('hi')).rejects.toThrow('is connecting now (attempt 1 of 2)')
    at.transports[0]!.over(refused)
    await start
    await expect(at.echo('hi')).rejects.toThrow(
      'is not connected: no such command while connecting. The next',
    )
    await at.supervisor.dispose()
    await expect(at.echo('hi')).rejects.toThrow('is no longer available')
    expect(at.server.toolbox.calls).toEqual([])
  })

  it('fails at once after the last attempt', async () => {
    const at = await supervised({ maxAttempts: 1 })
    at.faults = [{ start: refused }]
    await at.supervisor.start()
    await expect(at.echo('hi')).rejects.toThrow('no further attempt will be made: no such command')
  })

  it('passes an error of its own on, and keeps the connection', async () => {
    const at = await supervised()
    await at.supervisor.start()
    const failing = at.supervisor.use(() => Promise.reject(new RangeError('mine')), never)
    await expect(failing).rejects.toThrow(new RangeError('mine'))
    expect(at.state).toBe('connected')
  })

  it('fails with the reason when the connection is lost under it', async () => {
    const at = await supervised({ initialDelayMs: FAR })
    await at.supervisor.start()
    const tool = { name: 'hold', inputSchema: { type: 'object' as const } }
    const held = at.supervisor.use((generation) => generation.callTool(tool, {}, {}), never)
    const outcome = held.catch((error: unknown) => error)
    await eventually(() => expect(at.server.toolbox.holding).toBe(1))
    await at.crash()
    expect(await outcome).toEqual(new ConnectionFailure('the server closed the connection'))
    expect(at.state).toBe('backoff')
  })

  it('keeps its own error when it was cancelled, whatever becomes of the connection', async () => {
    const at = await supervised({ initialDelayMs: FAR })
    await at.supervisor.start()
    const abort = new AbortController()
    const cancelled = at.supervisor.use(async () => {
      abort.abort()
      await at.crash()
      throw new Error('cancelled')
    }, abort.signal)
    await expect(cancelled).rejects.toThrow('cancelled')
  })
})

describe('a lost session', () => {
  const isGone = (error: unknown) => String(error).includes('gone')
  const verdict: MemoryFaults['verdict'] = (error) =>
    isGone(error) ? { kind: 'lost', failure: lostSession } : { kind: 'alive' }

  /** A request that the first connections refuse. */
  function refusedBy(at: Supervised, count: number) {
    const seen: number[] = []
    const request = at.supervisor.use(async (generation) => {
      const index = at.generations.indexOf(generation)
      seen.push(index + 1)
      if (index < count) throw new Error('gone')
      return 'done'
    }, never)
    return { seen, request }
  }

  it('is replaced at once, without a wait, and the refused request is sent once more', async () => {
    const at = await supervised({ initialDelayMs: FAR })
    at.faults = [{ verdict }]
    await at.supervisor.start()
    const { seen, request } = refusedBy(at, 1)
    expect(await request).toBe('done')
    expect(seen).toEqual([1, 2])
    expect(at.kinds).not.toContain('backoff')
    expect(
      at.states.find((state) => state.kind === 'connecting' && state.cause === 'session-lost'),
    ).toBeDefined()
  })

  it('is replaced at once as often as it is lost, when it served in between', async () => {
    const at = await supervised({ initialDelayMs: FAR })
    at.faults = [{ verdict }]
    await at.supervisor.start()
    for (let count = 1; count <= 5; count++) {
      await at.echo('served')
      expect(await refusedBy(at, count).request).toBe('done')
    }
    expect(at.kinds).not.toContain('backoff')
    expect(at.generations).toHaveLength(6)
  })

  it('is not replaced again and again for one request', async () => {
    const at = await supervised({ initialDelayMs: FAR })
    at.faults = [{ verdict }]
    await at.supervisor.start()
    const { seen, request } = refusedBy(at, 9)
    await expect(request).rejects.toThrow('the server forgot the session')
    expect(seen).toEqual([1, 2])
  })

  it('runs into the wait when the server forgets every new one unused', async () => {
    const at = await supervised({ initialDelayMs: FAR })
    at.faults = [{ verdict }]
    await at.supervisor.start()
    await refusedBy(at, 9).request.catch(() => {})
    await at.reaches('backoff')
    await expect(at.echo('hi')).rejects.toThrow('is not connected')
  })

  it('is waited for by the calls that come meanwhile, but not when they are cancelled', async () => {
    const at = await supervised({ initialDelayMs: FAR })
    at.faults = [{ verdict }, { swallow: 'server/discover', verdict }]
    await at.supervisor.start()
    const first = refusedBy(at, 1).request.catch((error: Error) => error.message)
    await at.reaches('connecting')
    const abort = new AbortController()
    const cancelled = at.supervisor.use(async () => 'sent', abort.signal)
    const late = at.echo('late').catch((error: Error) => error.message)
    const outcome = cancelled.catch((error: unknown) => error)
    abort.abort(new Error('enough'))
    expect(await outcome).toEqual(new Error('enough'))
    await expect(
      at.supervisor.use(async () => 'sent', AbortSignal.abort(new Error('before'))),
    ).rejects.toThrow('before')
    at.transports[1]!.over(refused)
    expect(await first).toContain('is not connected')
    expect(await late).toContain('is not connected')
  })

  it('is not waited for longer than a call may take', async () => {
    const at = await supervised({ initialDelayMs: FAR }, { callTimeoutMs: 1 })
    at.faults = [{ verdict }, { swallow: 'server/discover', verdict }]
    await at.supervisor.start()
    await expect(refusedBy(at, 1).request).rejects.toThrow('is connecting now')
  })
})

describe('dispose', () => {
  const disposals = async (at: Supervised) => {
    const before = at.generations.length
    await at.supervisor.dispose()
    const log = [...at.log]
    expect(log.slice(-2)).toEqual(['withdraw', 'disposed'])
    expect(at.tools).toEqual([])
    for (const generation of at.generations) expect(generation.isOver).toBe(true)
    await turns(10)
    expect(at.log).toEqual(log)
    expect(at.generations).toHaveLength(before)
  }

  it('before the start has nothing to do', async () => {
    const at = await supervised()
    await at.supervisor.dispose()
    expect(at.log).toEqual([])
  })

  it('while the first connection is being made ends that', async () => {
    const at = await supervised()
    at.faults = [{ swallow: 'server/discover' }]
    const start = at.supervisor.start()
    await turns()
    await disposals(at)
    await start
    expect(at.kinds).toEqual(['connecting', 'disposed', 'disposed'])
  })

  it('while a process is being replaced by a legacy one makes no other', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const at = await supervised()
    at.faults = [{ endOn: { method: 'server/discover', failure: exited }, closing: () => promise }, {}]
    const start = at.supervisor.start()
    await turns()
    const disposal = at.supervisor.dispose()
    resolve()
    await Promise.all([disposal, start])
    expect(at.generations).toHaveLength(1)
  })

  it('during the first sync ends that', async () => {
    const at = await supervised()
    const release = at.server.toolbox.holdRequests('tools/list')
    const start = at.supervisor.start()
    await eventually(() => expect(at.log).toContain('sync'))
    await disposals(at)
    await start
    release()
  })

  it('of a live connection closes it', async () => {
    const at = await supervised()
    await at.supervisor.start()
    await disposals(at)
    expect(at.kinds).not.toContain('backoff')
  })

  it('during a later sync ends that, and what it brings is not taken over', async () => {
    const at = await supervised()
    await at.supervisor.start()
    const release = at.server.toolbox.holdRequests('tools/list')
    at.server.toolbox.setTools({ add: [{ name: 'late', inputSchema: { type: 'object' } }] })
    await eventually(() => expect(at.log.filter((entry) => entry === 'sync')).toHaveLength(2))
    await disposals(at)
    release()
    await turns()
    expect(at.tools).toEqual([])
    expect(at.syncFailures).toEqual([])
  })

  /** What was done after the end of an entry that is held up: before it is not any more, and then. */
  const heldUp = async (at: Supervised, release: () => void) => {
    at.log.length = 0
    const disposal = at.supervisor.dispose()
    await turns(10)
    const before = [...at.log]
    release()
    await disposal
    return { before, after: at.log.slice(before.length) }
  }

  it('waits for a connection that is being made until nothing more can come of it', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const at = await supervised()
    at.faults = [{ starting: () => promise }]
    const start = at.supervisor.start()
    await turns()
    const { before, after } = await heldUp(at, resolve)
    expect(before).not.toContain('withdraw')
    expect(after.slice(-2)).toEqual(['withdraw', 'disposed'])
    await start
  })

  it('waits for a later sync until nothing more can come of it', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    let syncs = 0
    const sync = async (generation: Generation) => {
      await generation.listTools()
      if (++syncs === 2) await promise
    }
    const at = await supervised({}, { sync })
    await at.supervisor.start()
    at.server.toolbox.setTools({ add: [{ name: 'late', inputSchema: { type: 'object' } }] })
    await eventually(() => expect(syncs).toBe(2))
    const { before, after } = await heldUp(at, resolve)
    expect(before).not.toContain('withdraw')
    expect(after.slice(-2)).toEqual(['withdraw', 'disposed'])
  })

  it('between two attempts means that there is no other', async () => {
    const at = await supervised({ initialDelayMs: 1 })
    at.faults = [{ start: refused }]
    await at.supervisor.start()
    await disposals(at)
    expect(at.kinds).toEqual(['connecting', 'backoff', 'disposed', 'disposed'])
  })

  it('while the last connection is still ending waits for its end', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const at = await supervised()
    at.faults = [{ closing: () => promise }]
    await at.supervisor.start()
    await at.crash()
    await at.reaches('connecting')
    const disposal = at.supervisor.dispose()
    await turns()
    expect(at.log.at(-1)).toBe('disposed')
    expect(at.log).not.toContain('withdraw')
    resolve()
    await disposal
    expect(at.generations).toHaveLength(1)
  })

  it('after the last attempt', async () => {
    const at = await supervised({ maxAttempts: 1 })
    at.faults = [{ start: refused }]
    await at.supervisor.start()
    await disposals(at)
    expect(at.kinds).toEqual(['connecting', 'failed', 'failed', 'disposed', 'disposed'])
  })
})

it('an error outside of every request is passed on', async () => {
  const at = await supervised()
  await at.supervisor.start()
  at.transports[0]!.onmessage?.({ jsonrpc: '2.0', id: 4711, result: {} })
  expect(at.errors).toHaveLength(1)
  expect(at.state).toBe('connected')
})
