/** What the rest of the package asks of a transport beyond the SDK's contract. */
import type { Transport } from '@modelcontextprotocol/client'
import type { ConnectionFailure } from '../diagnostics/failure.ts'

/** What the error of a request says about its connection, and that error in better words where there are any. */
export type TransportVerdict =
  /** The connection is fine. */
  | { readonly kind: 'alive'; readonly error?: unknown }
  /** Another exchange has to tell. */
  | { readonly kind: 'unclear'; readonly error: unknown }
  /**
   * Either the server refused the request because it does not know the session, or a tool has an error that
   * reads like that: another request of the session has to tell. `confirm` takes the session for lost.
   */
  | { readonly kind: 'session-doubt'; readonly error: unknown; confirm(): ConnectionFailure }
  /** The connection is lost. */
  | { readonly kind: 'lost'; readonly error?: unknown; readonly failure: ConnectionFailure }

/**
 * An SDK transport that can say why it failed.
 *
 * `close()` may be called in every state and any number of times; it settles when nothing of the connection is
 * left, and `onclose` has been called by then, before anything is waited for.
 */
export interface ServerTransport extends Transport {
  /** Called when notifications of the server may have been missed. Only a transport with gaps calls it. */
  onresume?: (() => void) | undefined
  /**
   * The failure that an error stands for, with what only the transport knows: the exit of the process, its last
   * output, the HTTP exchange.
   *
   * @param error - what the SDK threw, or `undefined` for a connection that just ended.
   * @param phase - what was going on, for the reason: `while connecting`, for example; may be empty.
   */
  explain(error: unknown, phase: string): ConnectionFailure
  /** Judge the connection by an error that a request on it met. */
  judge(error: unknown): TransportVerdict
  /**
   * Wait, within a bound, until the server has answered or refused what it has not begun to answer. Only a
   * transport that can lose its session and still get answers has this.
   */
  settle?(): Promise<void>
}
