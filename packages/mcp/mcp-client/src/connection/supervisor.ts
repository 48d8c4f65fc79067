/**
 * Keeps one entry connected: makes generations one after the other, and owns the state that says where it is.
 *
 * Invariants: every change of state goes through one method, which publishes it; generations never overlap, the
 * next starts when nothing is left of the one before; a call goes to the generation that is live when it is
 * made, and a second time only where the server provably did not execute it; after {@link Supervisor.dispose}
 * settles nothing is left.
 */
import type { ResolvedReconnect } from '../config/resolve.ts'
import { ConnectionFailure } from '../diagnostics/failure.ts'
import { afterFailure, afterLoss, NO_OUTAGE, planRecovery, type Outage } from './backoff.ts'
import type { Generation, GenerationEvents } from './generation.ts'
import { LEGACY_NEGOTIATION, negotiate, type KnownEra, type Negotiation } from './negotiation.ts'
import { transition, type AttemptCause, type ConnectionState } from './state.ts'
import { SyncQueue } from './sync-queue.ts'
import { unavailableError } from './unavailable.ts'
import { waitAtMost } from './wait.ts'

/** What a supervisor works with, and whom it tells. */
export interface SupervisorParts {
  readonly serverName: string
  readonly transport: 'stdio' | 'streamable-http'
  readonly policy: ResolvedReconnect
  /** Whether a first attempt that fails is the last one. */
  readonly isStartFatal: boolean
  /** How long a call may take, in ms. */
  readonly callTimeoutMs: number
  /** Make a generation; it is not connected yet. */
  makeGeneration(negotiation: Negotiation, events: GenerationEvents): Generation
  /**
   * Look at a generation that is connected, before anything of it is taken over.
   *
   * @throws {ConnectionFailure} when the entry does not want it.
   */
  admit(generation: Generation): void
  /**
   * Bring the registry up to what a generation lists, whole or not at all.
   *
   * @throws why it could not; the registry is then as it was.
   */
  sync(generation: Generation): Promise<void>
  /** A generation is connected and its first sync is done. */
  adopt(generation: Generation): void
  /** Take back everything that the entry contributes. */
  withdraw(): void
  /** The state changed, or what the entry contributes did. */
  publish(state: ConnectionState): void
  /** A changed list of tools was not taken over; the previous catalog stands. */
  reportSync(generation: Generation, error: unknown): void
  /** Something went wrong on a connection that did not end it. */
  reportError(generation: Generation, error: unknown): void
}

/** The supervisor of one entry. */
export class Supervisor {
  readonly #parts: SupervisorParts
  readonly #queue: SyncQueue
  #state: ConnectionState | undefined
  #outage: Outage = NO_OUTAGE
  #knownEra: KnownEra = 'unknown'
  /** The last generation that was made; what is left of it ends before the next is made. */
  #generation: Generation | undefined
  #connectedAtMs = 0
  #attempt: Promise<void> = Promise.resolve()
  #retryTimer: NodeJS.Timeout | undefined

  constructor(parts: SupervisorParts) {
    this.#parts = parts
    this.#queue = new SyncQueue((generation) => this.#sync(generation))
  }

  /** Where the connection is; `undefined` before {@link Supervisor.start}. */
  get state(): ConnectionState | undefined {
    return this.#state
  }

  /** Make the first attempt; settles when it is over, however it went. */
  async start(): Promise<void> {
    this.#begin('start')
    await this.#attempt
  }

  /**
   * Run a request on the live connection. It is sent again, once, when the server answered that it no longer
   * knows the session: it did not execute the request then.
   *
   * @param signal - the caller's cancellation, which `send` has to heed.
   * @throws {McpCallError} at once when there is no connection.
   * @throws {ConnectionFailure} when the connection fails while the request runs.
   * @throws whatever `send` throws.
   */
  async use<Result>(send: (generation: Generation) => Promise<Result>, signal: AbortSignal): Promise<Result> {
    try {
      return await this.#send(send, signal)
    } catch (error) {
      if (!(error instanceof ConnectionFailure && error.isSessionLost)) throw error
      return await this.#send(send, signal)
    }
  }

  /** End the connection and everything that came of it; safe in every state. */
  async dispose(): Promise<void> {
    if (this.#state === undefined) return
    clearTimeout(this.#retryTimer)
    this.#enter({ kind: 'disposed' })
    await this.#generation?.close()
    await this.#attempt
    await this.#queue.idle()
    this.#withdraw()
  }

  #enter(next: ConnectionState): void {
    this.#state = transition(this.#state, next)
    this.#publish()
  }

  /** Only called when there is a state. */
  #publish(): void {
    this.#parts.publish(this.#state!)
  }

  get #isDisposed(): boolean {
    return this.#state?.kind === 'disposed'
  }

  #begin(cause: AttemptCause): void {
    const { promise: settled, resolve } = Promise.withResolvers<void>()
    this.#enter({ kind: 'connecting', cause, attempt: this.#outage.failures + 1, settled })
    this.#attempt = this.#connect(cause).finally(resolve)
  }

  async #connect(cause: AttemptCause): Promise<void> {
    try {
      await this.#generation?.close()
      const generation = await this.#open()
      this.#parts.admit(generation)
      await this.#queue.request(generation)
      if (generation.isOver) throw await generation.ended
      this.#connectedAtMs = performance.now()
      this.#parts.adopt(generation)
      this.#enter({ kind: 'connected', generation })
      void generation.ended.then((failure) => this.#lose(generation, failure))
    } catch (error) {
      await this.#generation?.close()
      if (this.#isDisposed) return
      const failure =
        this.#generation?.explain(error, 'while the tools were listed') ??
        new ConnectionFailure(String(error))
      this.#outage = afterFailure(this.#outage)
      this.#recover(failure, cause === 'start' && this.#parts.isStartFatal)
    }
  }

  /** A connected generation. A process that exits when it is offered the modern protocol gets a legacy one. */
  async #open(): Promise<Generation> {
    const negotiation = negotiate(this.#parts.transport, this.#knownEra, this.#outage.failures)
    this.#knownEra = 'unknown'
    let generation: Generation
    try {
      generation = await this.#openWith(negotiation)
    } catch (error) {
      const isWorthAnother =
        error instanceof ConnectionFailure && error.hasExited && negotiation !== LEGACY_NEGOTIATION
      if (!isWorthAnother || this.#isDisposed) throw error
      generation = await this.#openWith(LEGACY_NEGOTIATION).catch(() => Promise.reject(error))
    }
    if (generation.client.getProtocolEra() === 'legacy') this.#knownEra = 'legacy'
    return generation
  }

  async #openWith(negotiation: Negotiation): Promise<Generation> {
    if (this.#isDisposed) throw new ConnectionFailure('the entry was disposed')
    const generation = this.#parts.makeGeneration(negotiation, {
      onToolsChanged: () => {
        this.#queue.request(generation).catch((error: unknown) => {
          if (!generation.isOver) this.#parts.reportSync(generation, error)
        })
      },
      onError: (error) => this.#parts.reportError(generation, error),
    })
    this.#generation = generation
    await generation.connect()
    return generation
  }

  async #sync(generation: Generation): Promise<void> {
    await this.#parts.sync(generation)
    this.#publish()
  }

  #lose(generation: Generation, failure: ConnectionFailure): void {
    if (this.#state?.kind !== 'connected' || this.#state.generation !== generation) return
    void generation.close()
    const lost = afterLoss(this.#outage, performance.now() - this.#connectedAtMs, this.#parts.policy)
    // A server that takes every new session and then forgets it must run into the backoff.
    if (failure.isSessionLost && (generation.hasServed || lost.failures <= 1)) {
      if (!generation.hasServed) this.#outage = lost
      this.#begin('session-lost')
      return
    }
    this.#outage = lost
    this.#recover(failure, false)
  }

  #recover(failure: ConnectionFailure, isFinal: boolean): void {
    const { policy } = this.#parts
    const plan = planRecovery(this.#outage, policy, failure.retryAfterMs)
    if (plan.kind === 'give-up' || isFinal) {
      this.#enter({ kind: 'failed', failure })
      if (policy.enabled) this.#withdraw()
      return
    }
    this.#outage = plan.outage
    const attempt = this.#outage.failures + 1
    // Before it is published, because whoever hears of it may dispose of the entry.
    this.#retryTimer = setTimeout(() => this.#begin('retry'), plan.delayMs).unref()
    this.#enter({ kind: 'backoff', attempt, nextAttemptAt: Date.now() + plan.delayMs, failure })
  }

  #withdraw(): void {
    this.#parts.withdraw()
    this.#publish()
  }

  get #live(): Generation {
    if (this.#state?.kind === 'connected') return this.#state.generation
    throw unavailableError(this.#parts.serverName, this.#state, this.#parts.policy)
  }

  /** A session that is being replaced is waited for, but not longer than a call may take. */
  async #send<Result>(
    send: (generation: Generation) => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result> {
    if (this.#state?.kind === 'connecting' && this.#state.cause === 'session-lost') {
      await waitAtMost(this.#parts.callTimeoutMs, signal, this.#state.settled)
      signal.throwIfAborted()
    }
    const generation = this.#live
    try {
      const result = await send(generation)
      generation.hasServed = true
      return result
    } catch (error) {
      if (signal.aborted) throw error
      const judgement = await generation.judge(error)
      if (judgement.isLost) this.#lose(generation, await generation.ended)
      throw judgement.error
    }
  }
}
