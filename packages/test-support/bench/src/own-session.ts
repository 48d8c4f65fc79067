/** Comparing clients, not what the system's scheduler makes of them. */

import type { ServerCommand } from './contenders.ts'

/**
 * The same server in a session of its own, which this client starts every server in. Linux divides a busy machine
 * among sessions (autogroup), so that twenty servers with a session each are given far more of it than twenty that
 * share the session of their client. The others get the same, to be compared with.
 */
export function ownSession({ command, args }: ServerCommand): ServerCommand {
  if (process.platform !== 'linux') return { command, args }
  return { command: 'setsid', args: [command, ...args] }
}
