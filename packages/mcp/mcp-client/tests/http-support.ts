/** What the tests of HTTP connections share: fixtures, servers that answer by a script, and a line that goes dead. */
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import {
  connect,
  createServer as createTcpServer,
  type AddressInfo,
  type Server,
  type Socket,
} from 'node:net'
import { startHttpFixture, type HttpFixture, type HttpFixtureOptions } from '@dsh-mcp/fixtures'
import { onTestFinished } from 'vitest'
import type { StreamableHttpConfig } from '../src/index.ts'
import { testCertificate } from './test-certificate.ts'

/** Both eras, for `describe.each`. */
export const ERAS = ['legacy', 'modern'] as const

/** A fixture that ends with the test. */
export async function httpFixture(options: HttpFixtureOptions = {}): Promise<HttpFixture> {
  const fixture = await startHttpFixture(options)
  onTestFinished(() => fixture[Symbol.asyncDispose]())
  return fixture
}

/** The configuration of an entry for a URL. Delays are short, so that tests are; liveness is off. */
export function httpConfig(url: string, more: Partial<StreamableHttpConfig> = {}): StreamableHttpConfig {
  return {
    serverName: 'one',
    transport: 'streamable-http',
    url,
    livenessIntervalMs: 0,
    reconnect: { initialDelayMs: 10, maxDelayMs: 1000 },
    ...more,
  }
}

async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  return (server.address() as AddressInfo).port
}

/** An HTTP server that ends with the test. */
export async function httpServer(handle: RequestListener): Promise<string> {
  return `http://127.0.0.1:${await listen(createServer(handle))}/mcp`
}

/** An HTTPS server with a certificate that nothing trusts; it ends with the test. Returns its port. */
export async function tlsServer(handle: RequestListener): Promise<number> {
  return await listen(createTlsServer(testCertificate, handle))
}

/** One JSON-RPC message as a client sent it. */
export interface Received {
  readonly id?: string | number
  readonly method?: string
  readonly params?: Record<string, unknown>
}

/** How a scripted server answers one method. It may do anything with the response. */
export type Answer = (message: Received, response: ServerResponse, request: IncomingMessage) => void

/** Answers with one JSON body. */
export function sendJson(response: ServerResponse, body: unknown, status = 200, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify(body))
}

/** Begins an event stream. */
export function openStream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
}

/** Answers a request with a result, in one JSON body. */
export const result =
  (value: Record<string, unknown>): Answer =>
  ({ id }, response) =>
    sendJson(response, { jsonrpc: '2.0', id, result: value })

/** Answers a request with a JSON-RPC error, in one JSON body. */
export const failure =
  (code: number, message: string, status = 200): Answer =>
  ({ id }, response) =>
    sendJson(response, { jsonrpc: '2.0', id, error: { code, message } }, status)

/** A server that answers by a script. */
export interface ScriptedServer {
  readonly url: string
  /** Every message so far; a request without a body is recorded by its HTTP method. */
  readonly received: Received[]
  /** How often a method was received. */
  count(method: string): number
  /** Stop listening. No connection outlasts its answer, so nothing else is cut. */
  stop(): Promise<void>
  /** Answers by JSON-RPC method, or by HTTP method where there is no body. Can be changed at any time. */
  readonly script: Record<string, Answer>
}

/** One tool of a scripted server. */
export const echoTool = { name: 'echo', inputSchema: { type: 'object' } }

const called = { content: [{ type: 'text', text: 'called' }] }

/** A 2025-11-25 server with sessions, and without an event stream of its own. */
const legacyScript: Record<string, Answer> = {
  // What a legacy server says to the offer of the modern protocol.
  'server/discover': failure(-32601, 'Method not found'),
  initialize: ({ id }, response) => {
    const value = {
      protocolVersion: '2025-11-25',
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: 'scripted', version: '1.0.0' },
    }
    sendJson(response, { jsonrpc: '2.0', id, result: value }, 200, { 'mcp-session-id': 'session-1' })
  },
  ping: result({}),
  'tools/list': result({ tools: [echoTool] }),
  'tools/call': result(called),
  GET: (_message, response) => response.writeHead(405).end(),
  DELETE: (_message, response) => response.writeHead(200).end(),
}

const complete = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' }

/** A 2026-07-28 server. */
const modernScript: Record<string, Answer> = {
  'server/discover': result({ ...complete, supportedVersions: ['2026-07-28'], capabilities: { tools: {} } }),
  'tools/list': result({ ...complete, tools: [echoTool] }),
  'tools/call': result({ resultType: 'complete', ...called }),
}

/** A server whose every answer can be replaced. By default it has one tool. */
export async function scriptedServer(
  script: Record<string, Answer> = {},
  era: (typeof ERAS)[number] = 'legacy',
): Promise<ScriptedServer> {
  const received: Received[] = []
  const answers: Record<string, Answer> = { ...(era === 'legacy' ? legacyScript : modernScript), ...script }
  const server = createServer((request, response) => {
    response.shouldKeepAlive = false
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      const message = (body === '' ? { method: request.method } : JSON.parse(body)) as Received
      received.push(message)
      const answer = answers[message.method ?? '']
      if (answer === undefined) response.writeHead(202).end()
      else answer(message, response, request)
    })
  })
  const url = `http://127.0.0.1:${await listen(server)}/mcp`
  const stop = async () => void (await new Promise((resolve) => server.close(resolve)))
  const count = (method: string) => received.filter((message) => message.method === method).length
  return { url, received, count, stop, script: answers }
}

/** A TCP line to a port, which can go dead without a sign. */
export interface Line {
  readonly url: string
  /** From now on nothing passes, in neither direction, and nothing is closed. New connections are accepted. */
  freeze(): void
  /** Everything passes again, except what was swallowed. */
  thaw(): void
  /** Reset every connection. */
  reset(): void
  /** Reset every connection; the next ones lead to another port. */
  switchTo(port: number): void
}

/** A line to a server on this machine. */
export async function tcpLine(port: number): Promise<Line> {
  let isFrozen = false
  let target = port
  const ends = new Set<Socket>()
  const server = createTcpServer((client) => {
    const upstream = connect(target, '127.0.0.1')
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      ends.add(from)
      from.on('data', (chunk) => isFrozen || to.write(chunk))
      from.on('error', () => {})
      from.on('close', () => {
        ends.delete(from)
        if (!isFrozen) to.destroy()
      })
    }
  })
  onTestFinished(() => {
    for (const end of ends) end.destroy()
  })
  const reset = () => {
    for (const end of ends) end.resetAndDestroy()
  }
  return {
    url: `http://127.0.0.1:${await listen(server)}/mcp`,
    freeze: () => void (isFrozen = true),
    thaw: () => void (isFrozen = false),
    reset,
    switchTo: (next) => {
      target = next
      reset()
    },
  }
}
