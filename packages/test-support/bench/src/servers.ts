/** The servers that only benchmarks need. */

import { fileURLToPath } from 'node:url'
import type { ServerCommand } from './contenders.ts'

/** How many tools {@link manyTools} lists. */
export const TOOL_COUNT = 5000

/** The one that changes; the last of the list. */
export const CHANGING_TOOL = 'changing'

/** A legacy server with {@link TOOL_COUNT} tools, `pid` among them. */
export function manyTools(): ServerCommand {
  return {
    command: process.execPath,
    args: [fileURLToPath(new URL('./servers/many-tools.ts', import.meta.url))],
  }
}

/** Let a {@link manyTools} server change a tool and announce it. By signal, so that no request is in its way. */
export function announceChange(pid: number): void {
  process.kill(pid, 'SIGUSR2')
}
