/** Makes faults of servers that are local processes. The programs are in `@dsh-mcp/fixtures`, `src/servers/zoo/`. */

import type { StdioConfig } from '@deepseek-ai/dsh-mcp-client'
import { fixtureCommand } from '@dsh-mcp/fixtures'
import type { Expectation, Fault, FaultyServer } from './types.ts'

/** What a server has besides the program that its fault is named after. */
type Parts = Partial<Omit<FaultyServer, 'config'>> & { config?: Partial<StdioConfig> }

/** For calls that are not going to be answered. */
export const IMPATIENT = { toolCallTimeoutMs: 1000 }

/** What the model is told about such a call. */
export const TIMED_OUT = /did not answer within 1000 ms, and the call was cancelled/u

/** The command of a program of the zoo. */
export function zoo(program: string, ...args: string[]): Partial<StdioConfig> {
  return fixtureCommand(`zoo/${program}`, ...args)
}

/**
 * A fault of a local process. Its program is the one of the zoo with the fault's name.
 *
 * @param parts - for another program, more configuration, or a check; a function when they are made anew each time.
 */
export function stdio(
  name: string,
  does: string,
  meets: Fault['meets'],
  expect: Expectation,
  parts: Parts | (() => Parts) = {},
): Fault {
  const serve = (): FaultyServer => {
    const { config, ...rest } = typeof parts === 'function' ? parts() : parts
    return { config: { transport: 'stdio', ...zoo(name), ...config }, ...rest }
  }
  return { name, does, transport: 'stdio', meets, expect, serve }
}
