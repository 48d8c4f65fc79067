/**
 * A server that is reached over Streamable HTTP, through the SDK's transport.
 *
 * Owns the session's end: a close tells the server that the session is over, within a bound.
 */
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { ConnectionFailure, reasonOf } from '../diagnostics/failure.ts'
import type { Redactor } from '../diagnostics/redactor.ts'
import type { ServerTransport } from './types.ts'

/** How long the server may take to acknowledge the end of a session, in ms. */
const TERMINATE_BOUND_MS = 1000

/** Where to connect, and with what. */
export interface HttpOptions {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly redactor: Redactor
}

/** The Streamable HTTP transport of one connection. */
export class HttpTransport extends StreamableHTTPClientTransport implements ServerTransport {
  readonly #redactor: Redactor
  #ending: Promise<void> | undefined

  constructor(options: HttpOptions) {
    super(options.url, { requestInit: { headers: options.headers } })
    this.#redactor = options.redactor
  }

  explain(error: unknown, phase: string): ConnectionFailure {
    if (error instanceof ConnectionFailure) return error
    const reason = error === undefined ? 'the connection closed' : reasonOf(error, this.#redactor)
    return new ConnectionFailure(`${reason} ${phase}`, { cause: error })
  }

  override close(): Promise<void> {
    this.#ending ??= this.#end()
    return this.#ending
  }

  async #end(): Promise<void> {
    const timeout = new Promise<void>((resolve) => setTimeout(resolve, TERMINATE_BOUND_MS).unref())
    await Promise.race([this.terminateSession().catch(() => {}), timeout])
    await super.close()
  }
}
