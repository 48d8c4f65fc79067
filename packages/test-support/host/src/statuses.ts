/**
 * Records the `mcp-client/status` events of a host and lets a test wait for one.
 *
 * Typed structurally, so that this package does not depend on the plugin it helps to test.
 */

import type { Context } from '@deepseek-ai/cordis'

/** The kinds of `mcp-client/status`. */
export type McpStatusKind = 'connecting' | 'connected' | 'reconnecting' | 'failed' | 'disposed'

/** The payload of `mcp-client/status`. */
export interface McpStatus {
  serverName: string
  status: McpStatusKind
  toolCount: number
  error?: string
  attempt?: number
  nextAttemptAt?: number
  protocolVersion?: string
  serverInfo?: { name: string; version: string; title?: string }
}

/** What a test waits for: a kind, or any condition on the payload. */
export type McpStatusMatch = McpStatusKind | ((status: McpStatus) => boolean)

/** How {@link StatusRecorder.wait} waits. */
export interface StatusWaitOptions {
  /** Milliseconds until the promise rejects. Default 20000; a bound for a broken test, not a measurement. */
  timeout?: number
  /** What brings the status about: only one emitted since its start is taken, however soon that comes. */
  during?: () => Promise<unknown>
}

interface StatusEvents {
  on(name: 'mcp-client/status', listener: (status: McpStatus) => void): unknown
}

/** Every status of one host, in order. */
export class StatusRecorder {
  readonly #statuses: McpStatus[] = []
  readonly #listeners = new Set<(status: McpStatus) => void>()

  /** Record from the event bus of a context for as long as its fiber lives. */
  attach(ctx: Context): void {
    const events = ctx as unknown as StatusEvents
    events.on('mcp-client/status', (status) => {
      const copy = structuredClone(status)
      this.#statuses.push(copy)
      for (const listener of this.#listeners) listener(copy)
    })
  }

  /** Every status so far; of one server when it is named. */
  all(serverName?: string): McpStatus[] {
    return this.#statuses.filter((status) => serverName === undefined || status.serverName === serverName)
  }

  /** The kinds that one server went through, repetitions included. */
  kinds(serverName: string): McpStatusKind[] {
    return this.all(serverName).map(({ status }) => status)
  }

  /** The latest status of one server. */
  latest(serverName: string): McpStatus | undefined {
    return this.#statuses.findLast((status) => status.serverName === serverName)
  }

  /** Forget everything recorded so far, for a host that lives long. */
  clear(): void {
    this.#statuses.length = 0
  }

  /**
   * The latest status of a server when it matches, else the next one that does; with `during`, only a next one,
   * and what it started has ended as well.
   *
   * @throws when none matched within the timeout; the message lists what was seen instead. What `during` throws.
   */
  async wait(serverName: string, match: McpStatusMatch, options: StatusWaitOptions = {}): Promise<McpStatus> {
    const { timeout = 20_000, during } = options
    const wanted = (status: McpStatus | undefined): status is McpStatus =>
      status !== undefined &&
      status.serverName === serverName &&
      (typeof match === 'function' ? match(status) : status.status === match)
    const latest = this.latest(serverName)
    if (during === undefined && wanted(latest)) return latest
    const { promise, resolve, reject } = Promise.withResolvers<McpStatus>()
    const listener = (status: McpStatus) => {
      if (wanted(status)) resolve(status)
    }
    const expire = () => {
      const what = typeof match === 'function' ? 'a matching status' : `"${match}"`
      const seen = this.all(serverName).map((status) => JSON.stringify(status))
      reject(
        new Error(`${what} of "${serverName}" did not come within ${timeout} ms; seen:\n${seen.join('\n')}`),
      )
    }
    const timer = setTimeout(expire, timeout)
    this.#listeners.add(listener)
    try {
      const [status] = await Promise.all([promise, during?.()])
      return status
    } finally {
      clearTimeout(timer)
      this.#listeners.delete(listener)
    }
  }
}
