/**
 * One connection from its start to its end: one client, one transport.
 *
 * Owns both. Invariants: it ends once, and says why; after {@link Generation.close} settles nothing of it is
 * left; it never comes back, the supervisor makes a new one instead. A handler for requests of the server
 * (elicitation, sampling) will be registered where the client is made.
 */
import {
  Client,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  type Implementation,
  type RequestOptions,
  type Tool,
} from '@modelcontextprotocol/client'
import { ConnectionFailure } from '../diagnostics/failure.ts'
import type { Redactor } from '../diagnostics/redactor.ts'
import { holdContent, releaseContent, type RawToolResult } from '../tools/content-hold.ts'
import type { ServerTransport } from '../transport/types.ts'
import type { Negotiation } from './negotiation.ts'
import { ListingPace } from './listing-pace.ts'
import { Announcements } from './announcements.ts'
import { Listing, MAX_LIST_MS, MAX_LIST_PAGES, type ListKind } from './listing.ts'
import { keepSubscribed } from './subscription.ts'
import { waitAtMost } from './wait.ts'

/** How long the first list waits for the subscription to its changes, in ms. */
const SUBSCRIBE_BOUND_MS = 1000

/** How long a check of life may take where no interval is configured, in ms. */
const DEFAULT_CHECK_MS = 30_000

/** What a generation tells whoever runs it. */
export interface GenerationEvents {
  /** The server's tools may have changed since they were listed. */
  onToolsChanged(): void
  /** Something went wrong that did not end the connection. */
  onError(error: unknown): void
}

/** What a generation is made of. */
export interface GenerationParts {
  /** How the client calls itself to the server. */
  readonly clientInfo: Implementation
  readonly transport: ServerTransport
  readonly negotiation: Negotiation
  /** How often a connection that is otherwise silent is checked for life, in ms; never when `undefined`. */
  readonly livenessIntervalMs: number | undefined
  readonly redactor: Redactor
  readonly events: GenerationEvents
}

/** What an error of a request comes to. */
export interface Judgement {
  /** Whether the connection is lost with it. */
  readonly isLost: boolean
  /** The error to go on with: the connection's failure, or the request's own error in better words. */
  readonly error: unknown
}

/** A live connection, or one on its way there. */
export class Generation {
  readonly client: Client
  /** Settles when the connection is over, with the reason. */
  readonly ended: Promise<ConnectionFailure>
  /** Whether a request was answered since the connection was made. */
  hasServed = false
  readonly #parts: GenerationParts
  readonly #life = new AbortController()
  readonly #resolveEnded: (failure: ConnectionFailure) => void
  readonly #listings = new Set<Listing>()
  readonly #announcements: Announcements
  readonly #pace = new ListingPace(performance.now())
  #hasAskedForTools = false
  #hasHeard = false
  #hasLostSession = false
  #closing: Promise<void> | undefined
  /** Why the connection was given up; what was running then fails with no more than that it was aborted. */
  #failure: ConnectionFailure | undefined
  #lifeCheck: Promise<ConnectionFailure | undefined> | undefined
  #sessionCheck: Promise<boolean> | undefined

  constructor(parts: GenerationParts) {
    const { clientInfo, transport, negotiation } = parts
    this.#parts = parts
    this.#announcements = new Announcements(() => parts.events.onToolsChanged(), this.#life.signal)
    this.client = new Client(clientInfo, { listMaxPages: MAX_LIST_PAGES, ...negotiation.client })
    this.client.onerror = (error) => this.#parts.events.onError(withoutMessage(error))
    this.client.setNotificationHandler('notifications/tools/list_changed', () => this.#toolsChanged())
    const { promise, resolve } = Promise.withResolvers<ConnectionFailure>()
    this.ended = promise
    this.#resolveEnded = resolve
    transport.onclose = () => {
      this.#life.abort()
      resolve(transport.explain(undefined, ''))
    }
    // The SDK calls both: this handler for what the transport met, the client's for what it made of messages too.
    transport.onerror = (error) => void this.#suspect(error)
    transport.onresume = () => {
      if (this.#announcesTools) this.#toolsChanged()
    }
    const { onmessage } = transport
    transport.onmessage = (message, extra) => {
      this.#hasHeard = true
      // The transport comes first: it may have to complete the message.
      onmessage?.(message, extra)
      holdContent(message)
      for (const listing of this.#listings) listing.inspect(message)
    }
  }

  /** Whether the connection is over, or was asked to end. */
  get isOver(): boolean {
    return this.#life.signal.aborted
  }

  /**
   * Start the transport and agree on a protocol.
   *
   * @throws {ConnectionFailure} when that fails; the generation is closed by then.
   */
  async connect(): Promise<void> {
    const { transport, negotiation } = this.#parts
    try {
      await this.client.connect(transport, negotiation.connect)
    } catch (error) {
      await this.close()
      throw transport.explain(error, 'while connecting')
    }
    this.#watchLife()
    if (this.client.getProtocolEra() === 'modern' && this.#announcesTools) await this.#subscribe()
  }

  /**
   * Every tool that the server offers; none when it has no tools capability. Asked for often, it waits first.
   *
   * @returns the tools, and what the operator should know about those that are not there or not as listed.
   * @throws {ListingError} when the list passes a bound.
   * @throws what the SDK throws: a page that is no tool list, too many pages, a timeout.
   */
  async listTools(): Promise<{ tools: Tool[]; report: readonly string[] }> {
    if (this.client.getServerCapabilities()?.tools === undefined) return { tools: [], report: [] }
    const waitMs = this.#pace.waitMs(performance.now())
    if (waitMs > 0) await waitAtMost(waitMs, this.#life.signal)
    this.#hasAskedForTools = true
    const listing = new Listing('tools', this.client.getProtocolEra() === 'modern', this.#parts.redactor)
    // Calls pass their tool along, so that nothing needs the SDK's own copy of the list.
    const run = (signal: AbortSignal) => this.client.listTools(undefined, { cacheMode: 'bypass', signal })
    const { tools } = await this.#list(listing, run, this.#life.signal, MAX_LIST_MS)
    return { tools, report: listing.report(tools.map(({ name }) => name)) }
  }

  /**
   * Collect any list of the server within bounds.
   *
   * @param run - asks the client for the list, until the signal aborts.
   * @param signal - ends the listing from outside.
   * @param maxMs - how long it may take, in ms.
   * @throws {ListingError} when the list passes a bound.
   * @throws whatever `run` throws.
   */
  list<Result>(
    kind: ListKind,
    run: (signal: AbortSignal) => Promise<Result>,
    signal: AbortSignal,
    maxMs: number,
  ): Promise<Result> {
    return this.#list(new Listing(kind, false, this.#parts.redactor), run, signal, maxMs)
  }

  /**
   * Call a tool by its raw name. The result's content and structured content are as the server sent them; whoever
   * uses them checks them.
   */
  async callTool(tool: Tool, args: Record<string, unknown>, options: RequestOptions): Promise<RawToolResult> {
    const { outputSchema: _, ...toolDefinition } = tool
    return releaseContent(
      await this.client.callTool({ name: tool.name, arguments: args }, { ...options, toolDefinition }),
    )
  }

  /**
   * Find out what an error of a request means for the connection, and end the connection when it is lost. Where
   * the error alone cannot tell, the server is asked: for the session, and then the answer is waited for; for a
   * sign of life, and nobody waits for that.
   */
  async judge(error: unknown): Promise<Judgement> {
    const verdict = this.#parts.transport.judge(error)
    switch (verdict.kind) {
      case 'lost':
        if (verdict.failure.isSessionLost || !this.isOver) return this.#lose(verdict.failure)
        break
      case 'session-doubt':
        if (this.#hasLostSession || (await this.#isSessionGone())) return this.#lose(verdict.confirm())
        break
      case 'unclear':
        if (!this.isOver) this.#verifyLife()
        break
      case 'alive':
        // An answer stands, whatever became of the connection after it.
        if (error instanceof ProtocolError) return { isLost: false, error: verdict.error ?? error }
    }
    if (this.isOver) return { isLost: true, error: withUnknownOutcome(await this.ended) }
    return { isLost: false, error: verdict.error ?? error }
  }

  /** The failure that an error of this connection stands for. */
  explain(error: unknown, phase: string): ConnectionFailure {
    return this.#failure ?? this.#parts.transport.explain(error, phase)
  }

  /** End the connection; safe in every state. Settles when nothing of it is left. */
  close(): Promise<void> {
    this.#closing ??= this.#end()
    return this.#closing
  }

  async #end(): Promise<void> {
    this.#life.abort()
    // What the server is about to refuse for the same reason was not executed either, and can be sent again.
    if (this.#hasLostSession) await this.#parts.transport.settle?.()
    await this.client.close().catch((error: unknown) => this.#parts.events.onError(error))
    await this.#parts.transport.close()
  }

  get #announcesTools(): boolean {
    return this.client.getServerCapabilities()?.tools?.listChanged === true
  }

  async #list<Result>(
    listing: Listing,
    run: (signal: AbortSignal) => Promise<Result>,
    signal: AbortSignal,
    maxMs: number,
  ): Promise<Result> {
    this.#listings.add(listing)
    try {
      return await listing.collect(run, signal, maxMs)
    } finally {
      this.#listings.delete(listing)
    }
  }

  #lose(failure: ConnectionFailure): Judgement {
    this.#fail(failure)
    return { isLost: true, error: failure }
  }

  #fail(failure: ConnectionFailure): void {
    this.#hasLostSession ||= failure.isSessionLost
    this.#failure ??= failure
    this.#resolveEnded(failure)
    void this.close()
  }

  /** An error outside of every request: a stream that dropped, or could not be opened. */
  async #suspect(error: Error): Promise<void> {
    // A message that cannot be read says nothing about the connection, except that there is one.
    const isUnreadable = error instanceof SyntaxError || 'issues' in error
    const isUp = this.client.getNegotiatedProtocolVersion() !== undefined && !this.isOver
    if (isUp && !isUnreadable) await this.judge(error)
  }

  /** Whether another request of the session is refused as well. Checks that overlap are one. */
  #isSessionGone(): Promise<boolean> {
    this.#sessionCheck ??= this.#askForSession().finally(() => {
      this.#sessionCheck = undefined
    })
    return this.#sessionCheck
  }

  /** A ping may be answered without a session (basic/lifecycle), so a list is asked for where there is one. */
  async #askForSession(): Promise<boolean> {
    const options = this.#checkOptions
    const hasTools = this.client.getServerCapabilities()?.tools !== undefined
    try {
      await (hasTools ? this.client.request({ method: 'tools/list' }, options) : this.#sendSign(options))
      return false
    } catch (error) {
      const verdict = this.#parts.transport.judge(error)
      return verdict.kind === 'session-doubt' || (verdict.kind === 'lost' && verdict.failure.isSessionLost)
    }
  }

  #verifyLife(): void {
    void this.#checkLife().then((failure) => {
      if (failure !== undefined && !this.isOver) this.#fail(failure)
    })
  }

  /** Why the server gives no sign of life, or `undefined` when it does. Checks that overlap are one. */
  #checkLife(): Promise<ConnectionFailure | undefined> {
    this.#lifeCheck ??= this.#askForLife().finally(() => {
      this.#lifeCheck = undefined
    })
    return this.#lifeCheck
  }

  get #checkOptions(): { timeout: number; signal: AbortSignal } {
    const timeout = Math.min(this.#parts.livenessIntervalMs ?? DEFAULT_CHECK_MS, DEFAULT_CHECK_MS)
    return { timeout, signal: this.#life.signal }
  }

  /** A server that does not answer a ping in the protocol may just not know it, so its tools have the last word. */
  async #askForLife(): Promise<ConnectionFailure | undefined> {
    const options = this.#checkOptions
    const sign = await this.#failureOf(this.#sendSign(options))
    if (sign?.wasAnswered !== true || this.client.getServerCapabilities()?.tools === undefined)
      return sign?.failure
    const tools = await this.#failureOf(this.client.request({ method: 'tools/list' }, options))
    return tools?.failure
  }

  /** What the failure of a request says about the connection, or `undefined` when that is fine. */
  async #failureOf(
    request: Promise<unknown>,
  ): Promise<{ failure: ConnectionFailure; wasAnswered: boolean } | undefined> {
    try {
      await request
      return undefined
    } catch (error) {
      const verdict = this.#parts.transport.judge(error)
      switch (verdict.kind) {
        case 'alive':
          // Any answer is a sign of life, a refusal too.
          return undefined
        case 'session-doubt':
          return (await this.#isSessionGone())
            ? { failure: verdict.confirm(), wasAnswered: false }
            : undefined
        case 'lost':
          return { failure: verdict.failure, wasAnswered: false }
        case 'unclear':
          return this.#describeSilence(error, verdict.error)
      }
    }
  }

  #describeSilence(error: unknown, inWords: unknown): { failure: ConnectionFailure; wasAnswered: boolean } {
    if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout) {
      const { timeout } = this.#checkOptions
      const failure = new ConnectionFailure(`the server gave no sign of life for ${timeout} ms`)
      return { failure, wasAnswered: false }
    }
    // What never reached a server is a failure of the connection from the start.
    return { failure: this.explain(inWords, ''), wasAnswered: !(error instanceof ConnectionFailure) }
  }

  /** Legacy servers are pinged (utilities/ping); 2026-07-28 has no ping, and discovery is its cheapest request. */
  async #sendSign(options: RequestOptions): Promise<void> {
    await (this.client.getProtocolEra() === 'modern'
      ? this.client.discover(options)
      : this.client.ping(options))
  }

  /** Only a connection without a process behind it can be dead without anybody noticing. */
  #watchLife(): void {
    const { livenessIntervalMs, transport } = this.#parts
    if (livenessIntervalMs === undefined || transport.hasPerRequestStream !== true || this.isOver) return
    const timer = setInterval(() => {
      const wasSilent = !this.#hasHeard
      this.#hasHeard = false
      if (wasSilent) this.#verifyLife()
    }, livenessIntervalMs).unref()
    this.#life.signal.addEventListener('abort', () => clearInterval(timer), { once: true })
  }

  #toolsChanged(): void {
    // Before the first list was asked for, nothing can be out of date.
    if (this.#hasAskedForTools && !this.isOver) this.#announcements.announce()
  }

  /** Subscribe to changes before the first list, so that none falls between the two; but do not insist. */
  async #subscribe(): Promise<void> {
    const opened = new Promise<void>((resolve) => {
      const onOpened = () => {
        resolve()
        this.#toolsChanged()
      }
      const onRefused = (error: unknown) => {
        resolve()
        this.#parts.events.onError(error)
      }
      void keepSubscribed(this.client, { toolsListChanged: true }, this.#life.signal, onOpened, onRefused)
    })
    await waitAtMost(SUBSCRIBE_BOUND_MS, this.#life.signal, opened)
  }
}

/** An error of the SDK about a message without that message, which may hold anything: images, secrets, megabytes. */
function withoutMessage(error: Error): Error {
  const [what] = /^(?:Received a|Unknown message)[^:]*(?=: )/u.exec(error.message) ?? []
  return what === undefined ? error : new Error(what)
}

/**
 * The end of a connection as the failure of a request that was running then. What ended the connection may be
 * known not to have been executed, or not even sent; of that request, nothing is known.
 */
function withUnknownOutcome(failure: ConnectionFailure): ConnectionFailure {
  return new ConnectionFailure(failure.message, { cause: failure })
}
