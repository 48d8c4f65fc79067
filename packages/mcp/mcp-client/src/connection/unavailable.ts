/** What a call is told when there is no connection: that it was not sent, why, and when to try again. */
import type { ResolvedReconnect } from '../config/resolve.ts'
import { McpCallError } from '../tools/errors.ts'
import type { ConnectionState } from './state.ts'

function explain(
  state: Exclude<ConnectionState, { kind: 'connected' }> | undefined,
  policy: ResolvedReconnect,
): string {
  switch (state?.kind) {
    case 'backoff': {
      const seconds = Math.max(1, Math.ceil((state.nextAttemptAt - Date.now()) / 1000))
      return `is not connected: ${state.failure.message}. The next connection attempt (${state.attempt} of ${policy.maxAttempts}) starts in about ${seconds} s; try again after that, or go on without it.`
    }
    case 'connecting':
      return `is connecting now (attempt ${state.attempt} of ${policy.maxAttempts}). Try again in a few seconds, or go on without it.`
    case 'failed':
      return `is not connected, and no further attempt will be made: ${state.failure.message}. Go on without it; its operator has to reload the entry.`
    case 'disposed':
    case undefined:
      return 'is no longer available. Go on without it.'
  }
}

/** The error for a call that was not sent. */
export function unavailableError(
  serverName: string,
  state: Exclude<ConnectionState, { kind: 'connected' }> | undefined,
  policy: ResolvedReconnect,
): McpCallError {
  return new McpCallError(
    `The call was not sent: MCP server "${serverName}" ${explain(state, policy)}`,
    'MCP_UNAVAILABLE',
  )
}
