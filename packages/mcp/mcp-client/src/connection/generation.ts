/**
 * One connection from its start to its end: one client, one transport.
 *
 * Owns both. Invariants: it ends once, and says why; after {@link Generation.close} settles nothing of it is
 * left; it never comes back, the supervisor makes a new one instead. A handler for requests of the server
 * (elicitation, sampling) will be registered where the client is made.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { Client, type Implementation, type RequestOptions, type Tool } from '@modelcontextprotocol/client'
import { ConnectionFailure } from '../diagnostics/failure.ts'
import { holdContent, releaseContent, type RawToolResult } from '../tools/content-hold.ts'
import type { ServerTransport } from '../transport/types.ts'
import type { Negotiation } from './negotiation.ts'
import { keepSubscribed } from './subscription.ts'

/** Pages that a listing may have; the SDK ends a longer one with an error. */
export const MAX_LIST_PAGES = 1000

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
  #hasAskedForTools = false
  #hasHeard = false
  #check: Promise<ConnectionFailure | undefined> | undefined

  constructor(parts: GenerationParts) {
    const { clientInfo, transport, negotiation } = parts
    this.#parts = parts
    this.client = new Client(clientInfo, { listMaxPages: MAX_LIST_PAGES, ...negotiation.client })
    this.client.onerror = (error) => void this.#suspect(error)
    this.client.setNotificationHandler('notifications/tools/list_changed', () => this.#toolsChanged())
    const { promise, resolve } = Promise.withResolvers<ConnectionFailure>()
    this.ended = promise
    this.#resolveEnded = resolve
    transport.onclose = () => {
      this.#life.abort()
      resolve(transport.explain(undefined, ''))
    }
    const { onmessage } = transport
    transport.onmessage = (message, extra) => {
      this.#hasHeard = true
      holdContent(message)
      onmessage?.(message, extra)
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
    const isModern = this.client.getProtocolEra() === 'modern'
    if (isModern && this.client.getServerCapabilities()?.tools?.listChanged === true) await this.#subscribe()
  }

  /**
   * Every tool that the server offers; none when it has no tools capability.
   *
   * @throws what the SDK throws: a page that is no tool list, too many pages, a timeout.
   */
  async listTools(): Promise<Tool[]> {
    if (this.client.getServerCapabilities()?.tools === undefined) return []
    this.#hasAskedForTools = true
    // Calls pass their tool along, so that nothing needs the SDK's own copy of the list.
    const { tools } = await this.client.listTools(undefined, { cacheMode: 'bypass', signal: this.#life.signal })
    return tools
  }

  /**
   * Call a tool by its raw name. The result's content and structured content are as the server sent them; whoever
   * uses them checks them.
   */
  async callTool(tool: Tool, args: Record<string, unknown>, options: RequestOptions): Promise<RawToolResult> {
    const { outputSchema: _, ...toolDefinition } = tool
    return releaseContent(await this.client.callTool({ name: tool.name, arguments: args }, { ...options, toolDefinition }))
  }

  /**
   * Find out what an error of a request means for the connection, and end the connection when it is lost. Where
   * the error alone cannot tell, the server is asked for a sign of life, and nobody waits for that.
   */
  async judge(error: unknown): Promise<Judgement> {
    const verdict = this.#parts.transport.judge(error)
    const isRefused = verdict.kind === 'lost' && verdict.failure.isSessionLost
    if (this.isOver && !isRefused) return { isLost: true, error: withUnknownOutcome(await this.ended) }
    if (verdict.kind === 'lost') this.#fail(verdict.failure)
    if (verdict.kind === 'unclear') this.#verifyLife()
    return { isLost: verdict.kind === 'lost', error: verdict.error ?? error }
  }

  /** The failure that an error of this connection stands for. */
  explain(error: unknown, phase: string): ConnectionFailure {
    return this.#parts.transport.explain(error, phase)
  }

  /** End the connection; safe in every state. Settles when nothing of it is left. */
  async close(): Promise<void> {
    this.#life.abort()
    await this.client.close().catch((error: unknown) => this.#parts.events.onError(error))
    await this.#parts.transport.close()
  }

  #fail(failure: ConnectionFailure): void {
    this.#resolveEnded(failure)
    void this.close()
  }

  /** An error outside of every request: a stream that dropped, a message that is none. */
  async #suspect(error: unknown): Promise<void> {
    this.#parts.events.onError(error)
    if (this.client.getNegotiatedProtocolVersion() !== undefined && !this.isOver) await this.judge(error)
  }

  #verifyLife(): void {
    void this.#checkLife().then((failure) => {
      if (failure !== undefined && !this.isOver) this.#fail(failure)
    })
  }

  /** Why the server gives no sign of life, or `undefined` when it does. Checks that overlap are one. */
  #checkLife(): Promise<ConnectionFailure | undefined> {
    this.#check ??= this.#askForLife().finally(() => {
      this.#check = undefined
    })
    return this.#check
  }

  /** Legacy servers are pinged (utilities/ping); 2026-07-28 has no ping, and discovery is its cheapest request. */
  async #askForLife(): Promise<ConnectionFailure | undefined> {
    const timeout = Math.min(this.#parts.livenessIntervalMs ?? DEFAULT_CHECK_MS, DEFAULT_CHECK_MS)
    const options = { timeout, signal: this.#life.signal }
    try {
      await (this.client.getProtocolEra() === 'modern' ? this.client.discover(options) : this.client.ping(options))
      return undefined
    } catch (error) {
      const verdict = this.#parts.transport.judge(error)
      // Any answer is a sign of life, a refusal too.
      return verdict.kind === 'alive' ? undefined : this.explain(verdict.error, '')
    }
  }

  /** Only a connection without a process behind it can be dead without anybody noticing. */
  #watchLife(): void {
    const { livenessIntervalMs, transport } = this.#parts
    if (livenessIntervalMs === undefined || transport.hasPerRequestStream !== true) return
    const timer = setInterval(() => {
      const wasSilent = !this.#hasHeard
      this.#hasHeard = false
      if (wasSilent) this.#verifyLife()
    }, livenessIntervalMs).unref()
    this.#life.signal.addEventListener('abort', () => clearInterval(timer), { once: true })
  }

  #toolsChanged(): void {
    // Before the first list was asked for, nothing can be out of date.
    if (this.#hasAskedForTools && !this.isOver) this.#parts.events.onToolsChanged()
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
    await Promise.race([opened, delay(SUBSCRIBE_BOUND_MS, undefined, { ref: false, signal: this.#life.signal }).catch(() => {})])
  }
}

/** The end of a connection as the failure of a request that was running then: nothing says that it may be sent again. */
function withUnknownOutcome(failure: ConnectionFailure): ConnectionFailure {
  return failure.isSessionLost ? new ConnectionFailure(failure.message, { cause: failure }) : failure
}
