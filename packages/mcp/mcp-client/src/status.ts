/**
 * `mcp-client/status`: the state of an entry as an event on the Cordis bus.
 *
 * Invariant: a listener that throws or rejects reaches neither the entry nor the listeners after it.
 */
import type { Context } from '@deepseek-ai/cordis'

/** Where an entry's connection is in its life. */
export type McpClientStatusKind = 'connecting' | 'connected' | 'reconnecting' | 'failed' | 'disposed'

/** What an entry says about itself, whole, at each change and after each sync of its tools. */
export interface McpClientStatus {
  /** The configured name, which tells entries apart. */
  serverName: string
  status: McpClientStatusKind
  /** Tools that this entry has in the registry now. */
  toolCount: number
  /** Why the connection is down, in one line that is safe to print. */
  error?: string
  /** With `connecting` and `reconnecting`: which attempt of the outage this is, from 1. */
  attempt?: number
  /** With `reconnecting`: when that attempt starts, in ms since the epoch. */
  nextAttemptAt?: number
  /** With `connected`: the negotiated protocol revision. */
  protocolVersion?: string
  /** With `connected`: how the server calls itself; untrusted, safe to print. */
  serverInfo?: { name: string; version: string; title?: string }
}

declare module '@deepseek-ai/cordis' {
  interface Events {
    /**
     * An MCP entry changed state, or the number of its tools changed within a state.
     *
     * @param status - the entry's whole status.
     * @mode emit
     */
    'mcp-client/status'(status: McpClientStatus): void
  }
}

/** Publish a status to every listener. */
export function emitStatus(ctx: Context, status: McpClientStatus): void {
  const report = (error: unknown) => ctx.logger.warn('a listener of mcp-client/status failed: %s', error)
  const contain = (action: () => unknown) => {
    try {
      Promise.resolve(action()).catch(report)
    } catch (error) {
      report(error)
    }
  }
  contain(() => {
    // Finding the listeners runs listeners, too: those that observe every dispatch.
    const args: [string, McpClientStatus] = ['mcp-client/status', status]
    const listeners: ((status: McpClientStatus) => unknown)[] = ctx.events.dispatch('emit', args)
    for (const listener of listeners) contain(() => listener(status))
  })
}
