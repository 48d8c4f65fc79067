/**
 * A gateway in front of an HTTP server, which can do to an exchange whatever networks, proxies and bad servers do.
 *
 * Invariants: without a fault everything passes as it is, streams included; the port stays the same; after
 * disposal no socket is left.
 */

import {
  createServer,
  request as forward,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'

/** One exchange, before anything is done about it. */
export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** The HTTP connection, to be cut. */
  readonly socket: Socket
  /** The JSON-RPC message of the body, as far as it is one. */
  readonly message: { readonly id?: string | number; readonly method?: string }
}

/** Takes an exchange over, by returning `true`; else it passes. */
export type GatewayFault = (exchange: Exchange) => boolean

/** A running gateway. */
export interface Gateway extends AsyncDisposable {
  readonly url: string
  fault: GatewayFault | undefined
  /** How many exchanges there were, by JSON-RPC method, or by HTTP method where there is none. */
  readonly exchanges: ReadonlyMap<string, number>
  /** From now on nothing passes in either direction, and nobody is told: a connection that is half open. */
  freeze(): void
  /** What comes from now on passes. Connections from before stay dead. */
  thaw(): void
  /** Cut every connection and listen no more. */
  stop(): Promise<void>
  /** Listen again, on the same port. */
  restart(): Promise<void>
}

function parse(body: string): Exchange['message'] {
  try {
    return JSON.parse(body) as Exchange['message']
  } catch {
    return {}
  }
}

/**
 * Start a gateway on a free loopback port.
 *
 * @param target - any URL of the server behind it, asked for at each exchange.
 */
export async function startGateway(target: () => string): Promise<Gateway> {
  const exchanges = new Map<string, number>()
  const sockets = new Set<Socket>()
  const streams = new Set<IncomingMessage>()
  let server: Server | undefined
  let port = 0
  let isFrozen = false

  function pass({ request, response }: Exchange, body: Buffer): void {
    const { method = 'GET', headers, url = '' } = request
    const upstream = forward(new URL(url, target()), { agent: false, method, headers }, (answer) => {
      streams.add(answer)
      answer.on('close', () => streams.delete(answer)).on('error', () => response.destroy())
      response.writeHead(answer.statusCode!, answer.headers).flushHeaders()
      answer.pipe(response)
    })
    upstream.on('error', () => response.destroy())
    response.on('close', () => upstream.destroy())
    upstream.end(body)
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request)
    const message = parse(body.toString('utf8'))
    const name = message.method ?? request.method ?? ''
    exchanges.set(name, (exchanges.get(name) ?? 0) + 1)
    const exchange: Exchange = { request, response, socket: request.socket, message }
    if (isFrozen || gateway.fault?.(exchange) === true) return
    pass(exchange, body)
  }

  async function listen(): Promise<void> {
    const next = createServer({ keepAliveTimeout: 0 }, (request, response) => {
      serve(request, response).catch(() => response.destroy())
    })
    next.on('connection', (socket) => {
      sockets.add(socket)
      socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    })
    await new Promise<void>((resolve, reject) => {
      next.once('error', reject).listen(port, '127.0.0.1', resolve)
    })
    server = next
    port = (next.address() as AddressInfo).port
  }

  async function stop(): Promise<void> {
    const previous = server
    server = undefined
    if (previous === undefined) return
    const closed = new Promise((resolve) => previous.close(resolve))
    for (const socket of sockets) socket.destroy()
    for (const stream of streams) stream.destroy()
    await closed
  }

  await listen()
  const gateway: Gateway = {
    url: `http://127.0.0.1:${port}/mcp`,
    fault: undefined,
    exchanges,
    freeze: () => {
      isFrozen = true
      for (const stream of streams) stream.pause().unpipe()
    },
    thaw: () => {
      isFrozen = false
    },
    stop,
    restart: listen,
    [Symbol.asyncDispose]: stop,
  }
  return gateway
}
