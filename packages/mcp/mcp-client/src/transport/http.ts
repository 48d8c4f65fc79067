/**
 * A server that is reached over Streamable HTTP, through the SDK's transport.
 *
 * Owns the connection pool, the streams of running requests, and the end of the session. Invariants: a request
 * whose stream ends without an answer is answered with an error, so that no call waits for what cannot come; a
 * cancelled request's stream is closed; after {@link HttpTransport.close} no socket is left, and the server was
 * told that the session is over, within a bound. An authorization provider will be one more option here.
 */
import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  ProtocolError,
  SdkHttpError,
  StreamableHTTPClientTransport,
  type FetchLike,
  type JSONRPCMessage,
} from '@modelcontextprotocol/client'
import { Agent, fetch } from 'undici'
import { ConnectionFailure, reasonOf } from '../diagnostics/failure.ts'
import type { Redactor } from '../diagnostics/redactor.ts'
import { boundedBody } from './bounded-body.ts'
import { httpReason, judgeHttpError, networkReason, parseRetryAfter } from './http-failure.ts'
import type { ServerTransport, TransportVerdict } from './types.ts'

/** How long the server may take to acknowledge the end of a session, in ms. */
const TERMINATE_BOUND_MS = 1000

/** How the SDK resumes an event stream that dropped; the supervisor notices a server that is gone before. */
const STREAM_RESUMPTION = {
  initialReconnectionDelay: 500,
  maxReconnectionDelay: 30_000,
  reconnectionDelayGrowFactor: 2,
  maxRetries: 10,
}

/** JSON-RPC code of the answer that stands in for one that can no longer come. */
const STREAM_ENDED_CODE = -32099

/** Where to connect, and with what. */
export interface HttpOptions {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly maxMessageBytes: number
  readonly redactor: Redactor
}

type RequestKey = string | number
type SendOptions = NonNullable<Parameters<StreamableHTTPClientTransport['send']>[1]>

/** The Streamable HTTP transport of one connection. */
export class HttpTransport extends StreamableHTTPClientTransport implements ServerTransport {
  readonly #options: HttpOptions
  readonly #pool: Agent
  /** Requests without an answer yet, and what closes their streams. */
  readonly #running = new Map<RequestKey, AbortController>()
  #ending: Promise<void> | undefined
  /** Why the connection ended by itself. */
  #failure: ConnectionFailure | undefined
  #isSessionGone = false
  /** Until when the server asked to be left alone, in ms since the epoch. */
  #retryAt = 0

  constructor(options: HttpOptions) {
    // Calls may take longer and streams may be silent for longer than undici's own deadlines.
    const pool = new Agent({ headersTimeout: 0, bodyTimeout: 0 })
    const exchange: FetchLike = (url, init) => this.#exchange(url, init)
    super(options.url, {
      requestInit: { headers: options.headers },
      fetch: exchange,
      reconnectionOptions: STREAM_RESUMPTION,
    })
    this.#options = options
    this.#pool = pool
    this.onmessage = (message: JSONRPCMessage) => {
      if (!('method' in message) && message.id !== undefined) this.#running.delete(message.id)
    }
  }

  override async send(message: JSONRPCMessage, options: SendOptions = {}): Promise<void> {
    if (isJSONRPCRequest(message)) return this.#sendRequest(message, options)
    await super.send(message, options)
    if (isJSONRPCNotification(message) && message.method === 'notifications/cancelled') {
      const cancelled = message.params?.['requestId'] as RequestKey
      this.#running.get(cancelled)?.abort()
      this.#running.delete(cancelled)
    }
  }

  explain(error: unknown, phase: string): ConnectionFailure {
    if (this.#failure !== undefined) return this.#failure
    for (let cause = error; cause instanceof Error; cause = cause.cause) {
      if (cause instanceof ConnectionFailure) return cause
    }
    const { url, headers, redactor } = this.#options
    const hasCredentials = Object.keys(headers).some((name) => name.toLowerCase() === 'authorization')
    const reason =
      error === undefined ? 'the connection was closed' : (httpReason(error, { url, hasCredentials }) ?? reasonOf(error, redactor))
    const retryAfterMs = Math.max(0, this.#retryAt - Date.now())
    return new ConnectionFailure(redactor.redact(phase === '' ? reason : `${reason} (${phase})`), { retryAfterMs, cause: error })
  }

  judge(error: unknown): TransportVerdict {
    if (error instanceof ConnectionFailure) return { kind: 'unclear', error }
    if (error instanceof ProtocolError && error.code === STREAM_ENDED_CODE) {
      return { kind: 'unclear', error: new ConnectionFailure(error.message, { cause: error }) }
    }
    const failure = this.explain(error, '')
    // What the server or the SDK said about the request itself is better than the transport's view of it.
    const said = error instanceof SdkHttpError ? failure : error
    switch (judgeHttpError(error, this.sessionId !== undefined)) {
      case 'session-lost':
        this.#isSessionGone = true
        return this.#lost(new ConnectionFailure('the server no longer knows the session', { isSessionLost: true, cause: error }))
      case 'unavailable':
        return this.#lost(failure)
      case 'unclear':
        return { kind: 'unclear', error: said }
      case 'request':
        return { kind: 'alive', error: said }
    }
  }

  #lost(failure: ConnectionFailure): TransportVerdict {
    return { kind: 'lost', failure, error: failure }
  }

  override close(): Promise<void> {
    this.#ending ??= this.#end()
    return this.#ending
  }

  async #end(): Promise<void> {
    const { onclose } = this
    delete this.onclose
    onclose?.()
    if (this.sessionId !== undefined && !this.#isSessionGone) {
      const timeout = new Promise<void>((resolve) => setTimeout(resolve, TERMINATE_BOUND_MS).unref())
      await Promise.race([this.terminateSession().catch(() => {}), timeout])
    }
    await super.close()
    await this.#pool.destroy()
  }

  async #sendRequest(message: JSONRPCMessage & { id: RequestKey }, options: SendOptions): Promise<void> {
    const stream = new AbortController()
    this.#running.set(message.id, stream)
    const { requestSignal, onRequestStreamEnd } = options
    requestSignal?.addEventListener('abort', () => this.#running.delete(message.id), { once: true })
    try {
      await super.send(message, {
        ...options,
        requestSignal: requestSignal === undefined ? stream.signal : AbortSignal.any([stream.signal, requestSignal]),
        // A subscription watches its own stream; any other request gets an answer in the server's stead.
        onRequestStreamEnd: onRequestStreamEnd ?? (() => this.#answerFor(message.id)),
      })
    } catch (error) {
      this.#running.delete(message.id)
      throw error
    }
  }

  /** The stream of a request is over; if its answer did not come, it will not come any more. */
  #answerFor(id: RequestKey): void {
    if (!this.#running.delete(id)) return
    const message = `${this.#options.url.host} ended the answer before it was complete`
    this.onmessage?.({ jsonrpc: '2.0', id, error: { code: STREAM_ENDED_CODE, message } })
  }

  async #exchange(url: string | URL, init: RequestInit | undefined): Promise<Response> {
    let response: Response
    try {
      // undici's own types and those of the platform name the same things twice.
      response = (await fetch(url, { ...init, dispatcher: this.#pool } as Parameters<typeof fetch>[1])) as unknown as Response
    } catch (error) {
      if (init?.signal?.aborted === true) throw error
      throw new ConnectionFailure(networkReason(error, new URL(url)), { cause: error })
    }
    const retryAfterMs = response.ok ? undefined : parseRetryAfter(response.headers.get('retry-after'), Date.now())
    if (retryAfterMs !== undefined) this.#retryAt = Date.now() + retryAfterMs
    return boundedBody(response, this.#options.maxMessageBytes, () => this.#overflow())
  }

  #overflow(): Error {
    const { maxMessageBytes } = this.#options
    this.#failure = new ConnectionFailure(`the server sent a message of more than ${maxMessageBytes} bytes (maxMessageBytes)`)
    void this.close()
    return this.#failure
  }
}
