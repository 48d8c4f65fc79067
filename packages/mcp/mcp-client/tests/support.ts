/** What the tests of this package share: hosts, entries, in-memory connections, and processes to look at. */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Context, Fiber } from '@deepseek-ai/cordis'
import {
  inMemoryServer,
  stdioFixture,
  type InMemoryServer,
  type InMemoryServerOptions,
  type ToolboxOptions,
} from '@dsh-mcp/fixtures'
import { isAlive, startHost, type HostOptions, type TestHost } from '@dsh-mcp/host'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { expect, onTestFinished, vi } from 'vitest'
import { ConnectionFailure } from '../src/diagnostics/failure.ts'
import { Redactor } from '../src/diagnostics/redactor.ts'
import * as mcpClient from '../src/index.ts'
import type { ServerTransport, TransportVerdict } from '../src/transport/types.ts'

/** How long a condition may take to come true on a machine under load, in ms. Never a measurement. */
export const PATIENCE = { timeout: 30_000, interval: 20 }

/** Wait until an assertion holds. */
export const eventually = async (assertion: () => unknown): Promise<void> => {
  await vi.waitFor(assertion, PATIENCE)
}

/** Let everything that is due in this turn of the event loop, and the next few, happen. */
export async function turns(count = 3): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** Hides nothing: there is nothing to hide. */
export const noSecrets = secretsIn({})

/** Hides the values of an environment. */
export function secretsIn(env: Record<string, string>): Redactor {
  return new Redactor({ transport: 'stdio', command: 'run', args: [], env, cwd: undefined })
}

/** A host that is disposed with the test. */
export async function host(options?: HostOptions): Promise<TestHost> {
  const started = await startHost(options)
  onTestFinished(() => started.dispose())
  return started
}

/** A folder that is removed with the test. */
export function temporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'mcp-client-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Any configuration that the plugin takes. */
export type Written = mcpClient.StdioConfig | mcpClient.StreamableHttpConfig

/** The configuration of an entry that runs a fixture program. Delays are short, so that tests are. */
export function fixtureConfig(
  program: string,
  options: ToolboxOptions = {},
  more: Partial<mcpClient.StdioConfig> = {},
): mcpClient.StdioConfig {
  return {
    serverName: 'one',
    transport: 'stdio',
    ...stdioFixture(program, options),
    reconnect: { initialDelayMs: 10, maxDelayMs: 1000 },
    ...more,
  }
}

/** The configuration of an entry that runs a piece of JavaScript on this Node. */
export function scriptConfig(
  script: string,
  args: readonly string[] = [],
  more: Partial<mcpClient.StdioConfig> = {},
): mcpClient.StdioConfig {
  const command = { command: process.execPath, args: ['--eval', script, '--', ...args] }
  return { ...fixtureConfig('legacy'), ...command, ...more }
}

/** Mount the plugin; settles as an activation does. */
export async function mount(on: TestHost, config: Written, ctx?: Context): Promise<Fiber> {
  return await on.mount(mcpClient, config, ctx)
}

/** Wait until a process is gone. */
export async function gone(pid: number): Promise<void> {
  await eventually(() => expect(isAlive(pid), `process ${pid} is alive`).toBe(false))
}

/** Wait until a host that was disposed holds nothing that it did not hold before. */
export async function nothingLeft(of: TestHost): Promise<void> {
  const isClean = () => {
    const { processes, resources } = of.leaks()
    return processes.length === 0 && Object.keys(resources).length === 0
  }
  // Nothing that waits with a timer of its own may look.
  for (let look = 0; look < 200 && !isClean(); look++) await new Promise((resolve) => setTimeout(resolve, 20))
  expect(of.leaks()).toEqual({ processes: [], resources: {} })
}

/** Kill a process for good when the test ends, whatever the test found. */
export function killAtEnd(pid: number): void {
  onTestFinished(() => {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It is gone, as it should be.
    }
  })
}

/** How a {@link MemoryTransport} departs from a perfect one. */
export interface MemoryFaults {
  /** Holds up the start. */
  starting?: () => Promise<void>
  /** Fail the start with this, as a command that is not there does. */
  start?: ConnectionFailure
  /** End the connection with this instead of sending a request of this method. */
  endOn?: { method: string; failure: ConnectionFailure }
  /** Requests of this method are never sent. */
  swallow?: string
  /** What an error of a request says about the connection. */
  verdict?: (error: unknown) => TransportVerdict
  /** Runs in each `close()`. */
  closing?: () => Promise<void>
}

/** A transport to an in-memory server, as the connection's own transports are. */
export class MemoryTransport implements ServerTransport {
  declare onclose?: () => void
  declare onerror?: (error: Error) => void
  declare onmessage?: Transport['onmessage'] & {}
  readonly #server: InMemoryServer
  readonly #faults: MemoryFaults
  #inner: Transport | undefined
  #isOver = false
  #failure: ConnectionFailure | undefined

  constructor(server: InMemoryServer, faults: MemoryFaults = {}) {
    this.#server = server
    this.#faults = faults
  }

  async start(): Promise<void> {
    if (this.#faults.start !== undefined) throw this.#faults.start
    await this.#faults.starting?.()
    const inner = await this.#server.connect()
    this.#inner = inner
    inner.onclose = () => this.over(new ConnectionFailure('the server closed the connection'))
    inner.onerror = (error) => this.onerror?.(error)
    inner.onmessage = (message, extra) => this.onmessage?.(message, extra)
    await inner.start()
    if (this.#isOver) await inner.close()
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const { endOn, swallow } = this.#faults
    const method = 'method' in message ? message.method : undefined
    if (method !== undefined && method === swallow) return
    if (this.#isOver) throw new Error('Not connected')
    if (endOn !== undefined && method === endOn.method) this.over(endOn.failure)
    else await this.#inner?.send(message)
  }

  async close(): Promise<void> {
    this.over(undefined)
    await this.#inner?.close()
    await this.#faults.closing?.()
  }

  explain(error: unknown, phase: string): ConnectionFailure {
    if (error instanceof ConnectionFailure) return error
    const { message, hasExited = false } = this.#failure ?? {
      message: error instanceof Error ? error.message : 'the connection closed',
    }
    return new ConnectionFailure([message, phase].filter(Boolean).join(' '), { cause: error, hasExited })
  }

  judge(error: unknown): TransportVerdict {
    return this.#faults.verdict?.(error) ?? { kind: 'alive' }
  }

  /** End the connection, by itself for a reason or because it was closed. */
  over(failure: ConnectionFailure | undefined): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#failure = failure
    this.onclose?.()
  }
}

/** An in-memory server that ends with the test. */
export async function memoryServer(options: InMemoryServerOptions = {}): Promise<InMemoryServer> {
  const server = await inMemoryServer(options)
  onTestFinished(() => server.close())
  return server
}
