import type { InMemoryServerOptions } from '@dsh-mcp/fixtures'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Generation } from '../../src/connection/generation.ts'
import { LEGACY_NEGOTIATION, negotiate } from '../../src/connection/negotiation.ts'
import { ConnectionFailure } from '../../src/diagnostics/failure.ts'
import { eventually, memoryServer, MemoryTransport, noSecrets, turns, type MemoryFaults } from '../support.ts'

const ERAS = ['legacy', 'modern'] as const
const clientInfo = { name: 'test', version: '1' }
const tool = (name: string, description = name) => ({ name, description, inputSchema: { type: 'object' } })

async function generation(options: InMemoryServerOptions = {}, faults: MemoryFaults = {}, isLegacy = false) {
  const server = await memoryServer(options)
  const transport = new MemoryTransport(server, faults)
  const errors: unknown[] = []
  let changes = 0
  const made = new Generation({
    clientInfo,
    transport,
    negotiation: isLegacy ? LEGACY_NEGOTIATION : negotiate('stdio', 'unknown', 0),
    livenessIntervalMs: undefined,
    redactor: noSecrets,
    events: { onToolsChanged: () => changes++, onError: (error) => errors.push(error) },
  })
  onTestFinished(() => made.close())
  return {
    server,
    transport,
    made,
    errors,
    get changes() {
      return changes
    },
    get methods() {
      return server.received.flatMap((message) => ('method' in message ? [message.method] : []))
    },
  }
}

async function connected(options: InMemoryServerOptions = {}, faults: MemoryFaults = {}) {
  const state = await generation(options, faults)
  await state.made.connect()
  return state
}

describe.each(ERAS)('a connection to a %s server', (era) => {
  it('speaks the newest protocol that both know', async () => {
    const { made } = await connected({ era })
    expect(made.client.getProtocolEra()).toBe(era)
    expect(made.isOver).toBe(false)
  })

  it('lists every tool of every page', async () => {
    const tools = Array.from({ length: 7 }, (_, index) => tool(`t${index}`))
    const { made, server } = await connected({ era, tools, pageSize: 3 })
    expect((await made.listTools()).tools.map(({ name }) => name)).toEqual(tools.map(({ name }) => name))
    expect(server.toolbox.listRequests).toBe(3)
  })

  it('lists nothing, and asks for nothing, when the server has no tools', async () => {
    const { made, server } = await connected({ era, noTools: true })
    expect(await made.listTools()).toEqual({ tools: [], report: [] })
    expect(server.toolbox.listRequests).toBe(0)
  })

  it('reports a change of the list at once, and those that follow it together', async () => {
    const state = await connected({ era })
    await state.made.listTools()
    state.server.toolbox.setTools({ add: [tool('new')] })
    await eventually(() => expect(state.changes).toBe(1))
    state.server.toolbox.notifyToolListChanged(3)
    await eventually(() => expect(state.changes).toBe(2))
  })

  it('reports no change before the first list was asked for, and none after the end', async () => {
    const state = await connected({ era })
    state.server.toolbox.notifyToolListChanged()
    await turns()
    expect(state.changes).toBe(0)
    await state.made.listTools()
    const announced = state.server.toolbox
    announced.notifyToolListChanged()
    await state.made.close()
    await turns()
    expect(state.changes).toBe(0)
  })

  it('ends when the server ends it, and says why', async () => {
    const { made, server } = await connected({ era })
    await server.closeConnections()
    expect(await made.ended).toMatchObject({ message: 'the server closed the connection' })
    expect(made.isOver).toBe(true)
  })

  it('ends while the list is on its way, which then fails', async () => {
    const { made, server } = await connected({ era })
    const release = server.toolbox.holdRequests('tools/list')
    const listing = made.listTools().catch((error: Error) => error)
    await turns()
    await made.close()
    expect(await listing).toBeInstanceOf(Error)
    release()
  })

  it('calls a tool by its raw name, with its arguments', async () => {
    const { made, server } = await connected({ era })
    const { tools } = await made.listTools()
    const dotted = tools.find(({ name }) => name === 'dotted.name')!
    expect(await made.callTool(dotted, { a: 1 }, {})).toMatchObject({
      content: [{ text: 'called dotted.name' }],
    })
    expect(server.toolbox.calls).toMatchObject([{ name: 'dotted.name', arguments: { a: 1 } }])
  })

  it('closes once and for all, as often as it is asked to', async () => {
    const { made, transport } = await connected({ era })
    await Promise.all([made.close(), made.close()])
    await made.close()
    expect(made.isOver).toBe(true)
    expect(await made.ended).toMatchObject({ message: 'the connection closed' })
    await expect(transport.send({ jsonrpc: '2.0', method: 'ping', id: 1 })).rejects.toThrow('Not connected')
  })
})

describe('the subscription of a modern connection', () => {
  it('is there before the first list, so that no change falls between the two', async () => {
    const state = await connected()
    expect(state.methods).toContain('subscriptions/listen')
    await state.made.listTools()
    const { methods } = state
    expect(methods.indexOf('subscriptions/listen')).toBeLessThan(methods.indexOf('tools/list'))
  })

  it('is not asked for when the server has no tools', async () => {
    const state = await connected({ noTools: true })
    expect(state.methods).toEqual(['server/discover'])
  })

  it('is not insisted on: a server that never acknowledges it is used without', async () => {
    const { made } = await connected({}, { swallow: 'subscriptions/listen' })
    expect((await made.listTools()).tools.length).toBeGreaterThan(0)
  })

  it('does not hold up the end of the connection', async () => {
    const state = await generation({}, { swallow: 'subscriptions/listen' })
    const connecting = state.made.connect()
    await eventually(() => expect(state.made.client.getProtocolEra()).toBe('modern'))
    await state.made.close()
    await connecting
    expect(state.made.isOver).toBe(true)
  })
})

describe('a connection that cannot be made', () => {
  it('because of the transport is told in its words, and is over', async () => {
    const failure = new ConnectionFailure('no such command')
    const { made } = await generation({}, { start: failure })
    await expect(made.connect()).rejects.toBe(failure)
    expect(made.isOver).toBe(true)
    await made.ended
  })

  it('because of the protocol is told with what was going on', async () => {
    const { made } = await generation({ era: 'modern' }, {}, true)
    const error: unknown = await made.connect().catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(ConnectionFailure)
    expect((error as Error).message).toMatch(/ while connecting$/u)
    expect(made.isOver).toBe(true)
  })

  it('because it is closed meanwhile', async () => {
    const { made } = await generation({}, { swallow: 'server/discover' })
    const connecting = made.connect().catch((error: unknown) => error)
    await turns()
    await made.close()
    expect(await connecting).toBeInstanceOf(ConnectionFailure)
  })

  it('because it was closed before', async () => {
    const state = await generation()
    await state.made.close()
    expect(state.made.isOver).toBe(true)
    await expect(state.made.connect()).rejects.toThrow(ConnectionFailure)
    expect(state.methods).toEqual([])
  })
})

describe('what goes wrong without ending the connection', () => {
  it('is passed on: a message that answers nothing', async () => {
    const { made, transport, errors } = await connected()
    transport.onmessage?.({ jsonrpc: '2.0', id: 4711, result: {} })
    expect(errors.map(String)).toEqual([expect.stringContaining('unknown message ID')])
    expect(made.isOver).toBe(false)
  })

  it('is passed on: a first attempt to close that fails', async () => {
    let closes = 0
    const closing = async () => {
      if (closes++ === 0) throw new Error('it is stuck')
    }
    const { made, errors } = await connected({}, { closing })
    await made.close()
    expect(errors.map(String)).toEqual(['Error: it is stuck'])
    expect(made.isOver).toBe(true)
  })
})
