/**
 * A server that is reached over Streamable HTTP, through the SDK's transport.
 *
 * Owns the connection pool, the streams of running requests, and the end of the session. Invariants: a request
 * that can no longer be answered is answered with an error, so that no call waits for what cannot come; a
 * cancelled request's stream is closed; after {@link HttpTransport.close} no socket and no timer is left, and the
 * server was told that the session is over, within a bound. An authorization provider will be one more option
 * here.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  ProtocolError,
  SdkHttpError,
  StreamableHTTPClientTransport,
  type FetchLike,
  type JSONRPCMessage,
  type JSONRPCRequest,
} from '@modelcontextprotocol/client'
import { Agent, fetch } from 'undici'
import { waitAtMost } from '../connection/wait.ts'
import { ConnectionFailure, reasonOf } from '../diagnostics/failure.ts'
import type { Redactor } from '../diagnostics/redactor.ts'
import { boundedBody, isEventStream } from './bounded-body.ts'
import {
  brokenReason,
  httpReason,
  isUnsent,
  judgeHttpError,
  networkReason,
  parseRetryAfter,
} from './http-failure.ts'
import { liftStrings, LongStrings } from './long-strings.ts'
import { RESUMPTION_PACE, StreamResumption } from './stream-resumption.ts'
import type { ServerTransport, TransportVerdict } from './types.ts'

/** How long the server may take to acknowledge the end of a session, in ms. */
const TERMINATE_BOUND_MS = 1000

/**
 * How long requests that the server has not begun to answer are waited for when their session is lost, in ms: for
 * the next of them, and for all together.
 */
const SETTLE_PAUSE_MS = 1000
const SETTLE_BOUND_MS = 5000

/** Largest status that a response can be made with (Fetch standard, initialize a response). */
const MAX_STATUS = 599

/** Requests whose answers may be large. */
const LARGE_ANSWERS = new Set(['tools/call', 'resources/read'])

/** Answers to requests of the server that may be on their way at once; each is an HTTP request of its own. */
const MAX_REPLIES = 100

/** JSON-RPC code of the answer that stands in for one that can no longer come. */
const NO_ANSWER_CODE = -32_099

/** Marks such an answer: what comes over the wire is never this object. */
const NO_ANSWER = Object.freeze({})

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
  /** Called when the server's own event stream was opened again: what was announced meanwhile is not known. */
  declare onresume?: () => void
  readonly #options: HttpOptions
  readonly #pool: Agent
  readonly #resumption: StreamResumption
  /** The request that an exchange is for, and whether it is answered with an event stream. */
  readonly #current = new AsyncLocalStorage<{ readonly message: JSONRPCRequest; hasStream: boolean }>()
  readonly #strings: LongStrings
  /** Requests without an answer yet, and what closes their streams. */
  readonly #running = new Map<RequestKey, AbortController>()
  /** Requests that the server has not begun to answer. */
  readonly #unanswered = new Set<Promise<void>>()
  #replies = 0
  #ending: Promise<void> | undefined
  /** Why the connection ended by itself. */
  #failure: ConnectionFailure | undefined
  #isSessionGone = false
  #hasAnswered = false
  #hasOpenedStream = false
  #hasMissedStream = false
  /** Until when the server asked to be left alone, in ms since the epoch. */
  #retryAt = 0
  #redirectTarget: URL | undefined

  constructor(options: HttpOptions) {
    // Calls may take longer and streams may be silent for longer than undici's own deadlines.
    const pool = new Agent({ headersTimeout: 0, bodyTimeout: 0 })
    const resumption = new StreamResumption()
    const exchange: FetchLike = (url, init) => this.#exchange(url, init)
    super(options.url, {
      requestInit: { headers: options.headers },
      fetch: exchange,
      reconnectionOptions: RESUMPTION_PACE,
      reconnectionScheduler: (resume, delayMs) => resumption.schedule(resume, delayMs),
    })
    this.#options = options
    this.#pool = pool
    this.#resumption = resumption
    this.#strings = new LongStrings(2 * options.maxMessageBytes)
    this.onmessage = (message: JSONRPCMessage) => this.#noteAnswer(message)
  }

  override async start(): Promise<void> {
    // The SDK's negotiation replaces the handler for as long as it lasts.
    const { onmessage } = this
    this.onmessage = (message) => {
      this.#noteAnswer(message)
      onmessage?.(message)
    }
    await super.start()
  }

  override async send(message: JSONRPCMessage, options: SendOptions = {}): Promise<void> {
    if (isJSONRPCRequest(message)) return this.#sendRequest(message, options)
    if (!('method' in message)) return this.#sendReply(message, options)
    if (isJSONRPCNotification(message) && message.method === 'notifications/cancelled') {
      this.#release(message.params?.['requestId'] as RequestKey)?.abort()
    }
    await super.send(message, options)
  }

  explain(error: unknown, phase: string): ConnectionFailure {
    if (this.#failure !== undefined) return this.#failure
    for (let cause = error; cause instanceof Error; cause = cause.cause) {
      if (cause instanceof ConnectionFailure) return cause
    }
    const { redactor } = this.#options
    const reason =
      error === undefined ? 'the connection was closed' : (this.#reasonOf(error) ?? reasonOf(error, redactor))
    const retryAfterMs = Math.max(0, this.#retryAt - Date.now())
    return new ConnectionFailure(redactor.redact(phase === '' ? reason : `${reason} (${phase})`), {
      retryAfterMs,
      cause: error,
    })
  }

  judge(error: unknown): TransportVerdict {
    if (error instanceof ConnectionFailure) return { kind: 'unclear', error }
    if (error instanceof ProtocolError && error.data === NO_ANSWER) {
      return { kind: 'unclear', error: new ConnectionFailure(error.message, { cause: error }) }
    }
    switch (judgeHttpError(error, this.sessionId !== undefined)) {
      case 'session-lost':
        return this.#lost(this.#loseSession(error))
      case 'session-doubt':
        return { kind: 'session-doubt', error: this.#inWords(error), confirm: () => this.#loseSession(error) }
      case 'unavailable':
        return this.#lost(this.explain(error, ''))
      case 'unclear':
        return { kind: 'unclear', error: this.#inWords(error) }
      case 'request':
        return { kind: 'alive', error: this.#inWords(error) }
    }
  }

  async settle(): Promise<void> {
    const endsAt = performance.now() + SETTLE_BOUND_MS
    for (let before = Number.POSITIVE_INFINITY; this.#unanswered.size < before;) {
      before = this.#unanswered.size
      if (before === 0) return
      const next = Promise.race(this.#unanswered).catch(() => {})
      await waitAtMost(Math.min(SETTLE_PAUSE_MS, endsAt - performance.now()), undefined, next)
    }
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
      const terminating = this.terminateSession().catch(() => {})
      await waitAtMost(TERMINATE_BOUND_MS, undefined, terminating)
    }
    await super.close()
    this.#resumption.cancel()
    await this.#pool.destroy()
  }

  async #sendRequest(message: JSONRPCRequest, options: SendOptions): Promise<void> {
    const stream = new AbortController()
    this.#running.set(message.id, stream)
    const { requestSignal, onRequestStreamEnd } = options
    requestSignal?.addEventListener('abort', () => this.#running.delete(message.id), { once: true })
    const exchange = { message, hasStream: false }
    const sending = this.#current.run(exchange, () =>
      super.send(message, {
        ...options,
        requestSignal:
          requestSignal === undefined ? stream.signal : AbortSignal.any([stream.signal, requestSignal]),
        onRequestStreamEnd: () => {
          if (onRequestStreamEnd === undefined)
            return this.#answerFor(message.id, 'ended its answer before it was complete')
          // A subscription watches its own stream.
          this.#release(message.id)
          onRequestStreamEnd()
        },
      }),
    )
    this.#unanswered.add(sending)
    try {
      await sending
    } catch (error) {
      this.#running.delete(message.id)
      throw error
    } finally {
      this.#unanswered.delete(sending)
    }
    if (!exchange.hasStream) this.#answerFor(message.id, 'took the request and did not answer it')
  }

  /** A server that asks more than it takes answers for is not answered, rather than given all the sockets there are. */
  async #sendReply(message: JSONRPCMessage, options: SendOptions): Promise<void> {
    if (this.#replies >= MAX_REPLIES)
      throw new Error(`the server does not take the answers to its own requests`)
    this.#replies++
    try {
      await super.send(message, options)
    } finally {
      this.#replies--
    }
  }

  #noteAnswer(message: JSONRPCMessage): void {
    this.#strings.restore(message)
    if (!('method' in message) && message.id !== undefined) this.#release(message.id)
  }

  #release(id: RequestKey): AbortController | undefined {
    const stream = this.#running.get(id)
    this.#running.delete(id)
    return stream
  }

  /** Answer a request in the server's stead, if its answer did not come: it will not come any more. */
  #answerFor(id: RequestKey, what: string): void {
    if (this.#release(id) === undefined) return
    const error = { code: NO_ANSWER_CODE, message: `${this.#options.url.host} ${what}`, data: NO_ANSWER }
    this.onmessage?.({ jsonrpc: '2.0', id, error })
  }

  async #exchange(url: string | URL, init: RequestInit | undefined): Promise<Response> {
    const isOwnGet = init?.method === 'GET' && !new Headers(init.headers).has('last-event-id')
    let response: Response
    try {
      // undici's own types and those of the platform name the same things twice.
      const options = { ...init, dispatcher: this.#pool } as Parameters<typeof fetch>[1]
      response = await fetch(url, options)
    } catch (error) {
      if (init?.signal?.aborted === true) throw error
      if (isOwnGet) this.#missStream()
      const redact = (text: string) => this.#options.redactor.redact(text)
      const reason = networkReason(error, new URL(url), this.#hasAnswered, redact)
      throw new ConnectionFailure(redact(reason), {
        isUnsent: isUnsent(error),
        cause: error,
      })
    }
    this.#hasAnswered = true
    if (response.status > MAX_STATUS) {
      await response.body?.cancel()
      throw new ConnectionFailure(
        `${new URL(url).host} answered with ${response.status}, which is no status of HTTP`,
      )
    }
    this.#noteHeaders(response, new URL(url))
    if (isOwnGet && mayPass(response.status)) this.#missStream()
    const isStream = response.ok && isEventStream(response)
    const current = this.#current.getStore()
    if (current !== undefined) current.hasStream ||= isStream
    const isOwnStream = isStream && init?.method === 'GET'
    if (isOwnStream) this.#noteStream(!isOwnGet)
    const bounded = boundedBody(response, this.#options.maxMessageBytes, {
      onData: () => {
        if (isOwnStream) this.#resumption.progressed()
      },
      onOverflow: () => this.#overflow(),
    })
    if (current === undefined || !response.ok) return bounded
    const { id, method } = current.message
    const light = LARGE_ANSWERS.has(method) ? liftStrings(bounded, this.#strings) : bounded
    return this.#complete(addressed(light, id), init?.signal)
  }

  /** The same response, which says so when its JSON breaks off: the server may have done what it was asked for. */
  #complete(response: Response, signal: AbortSignal | null | undefined): Response {
    const read = response.json.bind(response)
    const json = async (): Promise<unknown> => {
      try {
        return await read()
      } catch (error) {
        if (signal?.aborted === true || error instanceof SyntaxError || error instanceof ConnectionFailure)
          throw error
        const reason = brokenReason(error, this.#options.url, this.#options.redactor)
        throw new ConnectionFailure(reason, { cause: error })
      }
    }
    return Object.assign(response, { json })
  }

  #noteHeaders(response: Response, url: URL): void {
    if (response.ok) return
    const retryAfterMs = parseRetryAfter(response.headers.get('retry-after'), Date.now())
    if (retryAfterMs !== undefined) this.#retryAt = Date.now() + retryAfterMs
    const location = response.headers.get('location')
    const isReadable = location !== null && URL.canParse(location, url.href)
    this.#redirectTarget = isReadable ? new URL(location, url) : undefined
  }

  /** The server's own event stream is open, or one that goes on where it was cut. */
  #noteStream(isResumed: boolean): void {
    if ((this.#hasOpenedStream || this.#hasMissedStream) && !isResumed) this.onresume?.()
    this.#hasOpenedStream = true
  }

  /** The server's own event stream did not open, and may do so later. The SDK tries again only once it was open. */
  #missStream(): void {
    if (this.#hasOpenedStream) return
    this.#hasMissedStream = true
    this.#resumption.schedule(() => void this.resumeStream('').catch(() => {}), 0)
  }

  #overflow(): Error {
    const { maxMessageBytes } = this.#options
    this.#failure = new ConnectionFailure(
      `the server sent a message of more than ${maxMessageBytes} bytes (maxMessageBytes)`,
    )
    void this.close()
    return this.#failure
  }

  #reasonOf(error: unknown): string | undefined {
    const { url, headers, redactor } = this.#options
    const hasCredentials = Object.keys(headers).some((name) => name.toLowerCase() === 'authorization')
    const redact = (text: string) => redactor.redact(text)
    return httpReason(error, { url, hasCredentials, redirectTarget: this.#redirectTarget, redact })
  }

  /** An error of one request in better words than the SDK's, where there are any. */
  #inWords(error: unknown): unknown {
    if (this.#reasonOf(error) === undefined) return error
    const failure = this.explain(error, '')
    // A status below 500 is a refusal; anything else leaves open what the server did.
    const isRefusal = error instanceof SdkHttpError && error.status < 500
    return isRefusal ? new Error(failure.message, { cause: error }) : failure
  }

  #loseSession(error: unknown): ConnectionFailure {
    this.#isSessionGone = true
    return new ConnectionFailure('the server no longer knows the session', {
      isSessionLost: true,
      cause: error,
    })
  }

  #lost(failure: ConnectionFailure): TransportVerdict {
    return { kind: 'lost', failure, error: failure }
  }
}

/** Whether an answer with this status may be another one later; the others say that there is no such stream. */
function mayPass(status: number): boolean {
  return status === 429 || status >= 500
}

/**
 * The same response, whose JSON is an answer to the request: an error without an id is one to the request that it
 * answers (JSON-RPC 2.0, 5), and the SDK would take it for no JSON-RPC at all.
 */
function addressed(response: Response, id: RequestKey): Response {
  const read = response.json.bind(response)
  const json = async () => {
    const body = (await read()) as { error?: unknown; id?: unknown } | null
    return body?.error !== undefined && body.id === null ? { ...body, id } : body
  }
  return Object.assign(response, { json })
}
