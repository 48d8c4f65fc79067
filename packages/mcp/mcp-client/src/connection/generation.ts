/**
 * One connection from its start to its end: one client, one transport.
 *
 * Owns both. Invariants: it ends once, and says why; after {@link Generation.close} settles nothing of it is
 * left; it never comes back, the supervisor makes a new one instead.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { Client, type CallToolResult, type Implementation, type RequestOptions, type Tool } from '@modelcontextprotocol/client'
import type { ConnectionFailure } from '../diagnostics/failure.ts'
import type { ServerTransport } from '../transport/types.ts'
import type { Negotiation } from './negotiation.ts'
import { keepSubscribed } from './subscription.ts'

/** Pages that a listing may have; the SDK ends a longer one with an error. */
export const MAX_LIST_PAGES = 1000

/** How long the first list waits for the subscription to its changes, in ms. */
const SUBSCRIBE_BOUND_MS = 1000

/** What a generation tells whoever runs it. */
export interface GenerationEvents {
  /** The server's tools may have changed since they were listed. */
  onToolsChanged(): void
  /** Something went wrong that did not end the connection. */
  onError(error: unknown): void
}

/** A live connection, or one on its way there. */
export class Generation {
  readonly client: Client
  /** Settles when the connection is over, with the reason. */
  readonly ended: Promise<ConnectionFailure>
  readonly #transport: ServerTransport
  readonly #negotiation: Negotiation
  readonly #events: GenerationEvents
  readonly #life = new AbortController()
  /** Whether a request was answered since the connection was made. */
  hasServed = false
  #hasAskedForTools = false

  /** @param clientInfo - how the client calls itself to the server. */
  constructor(clientInfo: Implementation, transport: ServerTransport, negotiation: Negotiation, events: GenerationEvents) {
    this.#transport = transport
    this.#negotiation = negotiation
    this.#events = events
    this.client = new Client(clientInfo, { listMaxPages: MAX_LIST_PAGES, ...negotiation.client })
    this.client.onerror = (error) => events.onError(error)
    this.client.setNotificationHandler('notifications/tools/list_changed', () => this.#toolsChanged())
    this.ended = new Promise((resolve) => {
      transport.onclose = () => {
        this.#life.abort()
        resolve(transport.explain(undefined, ''))
      }
    })
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
    try {
      await this.client.connect(this.#transport, this.#negotiation.connect)
    } catch (error) {
      await this.close()
      throw this.#transport.explain(error, 'while connecting')
    }
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

  /** Call a tool by its raw name. The SDK checks the result against the tool's advertised output schema. */
  callTool(tool: Tool, args: Record<string, unknown>, options: RequestOptions): Promise<CallToolResult> {
    return this.client.callTool({ name: tool.name, arguments: args }, { ...options, toolDefinition: tool })
  }

  /**
   * Whether an error of a request means that the connection is lost.
   *
   * @returns why it is lost, or `undefined` when the error concerns the request alone.
   */
  async judge(_error: unknown): Promise<ConnectionFailure | undefined> {
    return this.isOver ? await this.ended : undefined
  }

  /** The failure that an error of this connection stands for. */
  explain(error: unknown, phase: string): ConnectionFailure {
    return this.#transport.explain(error, phase)
  }

  /** End the connection; safe in every state. Settles when nothing of it is left. */
  async close(): Promise<void> {
    this.#life.abort()
    await this.client.close().catch((error: unknown) => this.#events.onError(error))
    await this.#transport.close()
  }

  #toolsChanged(): void {
    // Before the first list was asked for, nothing can be out of date.
    if (this.#hasAskedForTools && !this.isOver) this.#events.onToolsChanged()
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
        this.#events.onError(error)
      }
      void keepSubscribed(this.client, { toolsListChanged: true }, this.#life.signal, onOpened, onRefused)
    })
    await Promise.race([opened, delay(SUBSCRIBE_BOUND_MS, undefined, { ref: false, signal: this.#life.signal }).catch(() => {})])
  }
}
