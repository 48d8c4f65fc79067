import { METHOD_NOT_FOUND, type JSONRPCMessage } from '@modelcontextprotocol/client'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { Generation } from '../../src/connection/generation.ts'
import { negotiate } from '../../src/connection/negotiation.ts'
import { eventually, memoryServer, MemoryTransport, noSecrets, turns } from '../support.ts'

/** A modern connection to a server that handles its subscriptions as a test says. */
async function connection(onListen?: (id: unknown, transport: MemoryTransport) => void) {
  const server = await memoryServer()
  const asked: unknown[] = []
  class Listened extends MemoryTransport {
    override async send(message: JSONRPCMessage): Promise<void> {
      if (!('method' in message && 'id' in message && message.method === 'subscriptions/listen')) {
        await super.send(message)
        return
      }
      asked.push(message.id)
      if (onListen === undefined) await super.send(message)
      else onListen(message.id, this)
    }
  }
  const transport = new Listened(server)
  const errors: string[] = []
  let changes = 0
  const generation = new Generation({
    clientInfo: { name: 'test', version: '1' },
    transport,
    negotiation: negotiate('stdio', 'unknown', 0),
    livenessIntervalMs: undefined,
    redactor: noSecrets,
    events: { onToolsChanged: () => changes++, onError: (error) => errors.push(String(error)) },
  })
  onTestFinished(() => generation.close())
  await generation.connect()
  await generation.listTools()
  return {
    generation,
    asked,
    errors,
    get changes() {
      return changes
    },
    /** End a subscription as a server on a local process does. */
    end: (id: unknown) =>
      transport.onmessage?.({
        jsonrpc: '2.0',
        method: 'notifications/cancelled',
        params: { requestId: id as string },
      }),
  }
}

/** Answers a request with an error. */
const refuse = (code: number) => (id: unknown, transport: MemoryTransport) =>
  transport.onmessage?.({ jsonrpc: '2.0', id: id as string, error: { code, message: 'no subscriptions' } })

/** From now on time passes only when a test says so. */
function fakeTime(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
}

/** Let a time pass, and everything that it brings. */
async function pass(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms)
  await turns(10)
}

describe('a subscription that the server ends', () => {
  it('is asked for ever less often, at least twice a minute, and anew after one that lasted', async () => {
    fakeTime()
    const at = await connection()
    const reopensAfter = async (ms: number) => {
      const before = at.asked.length
      at.end(at.asked.at(-1))
      await turns(10)
      await pass(ms - 1)
      expect(at.asked).toHaveLength(before)
      await pass(1)
      expect(at.asked).toHaveLength(before + 1)
    }
    for (const ms of [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]) await reopensAfter(ms)
    await pass(30_001)
    await reopensAfter(500)
  })

  it('is opened again, and a change that was missed meanwhile is noticed', async () => {
    const at = await connection()
    expect(at.changes).toBe(0)
    at.end(at.asked[0])
    await eventually(() => expect(at.changes).toBe(1))
    expect(at.asked).toHaveLength(2)
    expect(at.errors).toEqual([])
  })

  it('is not opened again when the connection ends', async () => {
    const at = await connection()
    at.end(at.asked[0])
    await at.generation.close()
    await turns()
    expect(at.asked).toHaveLength(1)
  })
})

describe('a subscription that the server refuses', () => {
  it('is asked for again, and what it said is reported', async () => {
    const at = await connection(refuse(-32_603))
    await eventually(() => expect(at.asked.length).toBeGreaterThan(1))
    expect(at.errors[0]).toContain('no subscriptions')
    expect(at.changes).toBe(0)
    expect(at.generation.isOver).toBe(false)
  })

  it('is not asked for again by a client that was told that there are none', async () => {
    fakeTime()
    const at = await connection(refuse(METHOD_NOT_FOUND))
    expect(at.errors).toEqual([expect.stringContaining('no subscriptions')])
    await vi.advanceTimersByTimeAsync(3_600_000)
    expect(at.asked).toHaveLength(1)
  })
})
