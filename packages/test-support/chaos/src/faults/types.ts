/** What a fault is: a server with one thing wrong, how to make it happen, and what has to come of it. */

import type { StdioConfig, StreamableHttpConfig } from '@deepseek-ai/dsh-mcp-client'
import type { TestHost } from '@dsh-mcp/host'
import type { Random } from '../random.ts'

/** What has to come of a fault. A part that is absent must not happen. */
export interface Expectation {
  /** Where the entry stands in the end. A connected entry must serve the next call. */
  readonly ends: 'connected' | 'failed' | 'connecting'
  /** The connection is lost on the way, instead of standing all the while. */
  readonly isLost?: true
  /** The server does not come back by itself, so that the next call is not made: only a disposal ends this. */
  readonly staysBroken?: true
  /** What a status says is wrong. */
  readonly error?: RegExp
  /** What a line of the log says, at any level above debug. */
  readonly log?: RegExp
  /** The call that meets the fault succeeds, and this is what the model reads. */
  readonly answer?: RegExp
  /** The call that meets the fault fails, and this is what the model reads. */
  readonly refusal?: RegExp
  /**
   * How many tools there are in the end. Default: after a strike exactly those of before, in the same order and
   * with the same bytes; after a failure none.
   */
  readonly tools?: number
}

/** A server of one injection. */
export interface FaultyServer {
  /** What the entry's configuration has besides a name and short delays. */
  readonly config: Partial<StdioConfig> | Partial<StreamableHttpConfig>
  /** Makes the fault happen, or lets the next call meet it. */
  arm?(): void | Promise<void>
  /** Makes the server whole again, once the fault had its effect. */
  repair?(): void | Promise<void>
  /** Looks at what no expectation can say. Returns what is wrong. */
  check?(host: TestHost): string[] | Promise<string[]>
  /** Ends what was started for the server. */
  close?(): void | Promise<void>
}

/** One fault. */
export interface Fault {
  /** In kebab case, for `--only` and the table. */
  readonly name: string
  /** What the server does wrong, as a predicate: the server "ignores SIGTERM". */
  readonly does: string
  readonly transport: 'stdio' | 'http'
  /**
   * How the fault is met: `start` by connecting; `call` by calling a tool once connected; `arm` by
   * {@link FaultyServer.arm} alone.
   */
  readonly meets: 'start' | 'call' | 'arm'
  readonly expect: Expectation
  /** Makes the server. */
  serve(random: Random): FaultyServer | Promise<FaultyServer>
}
