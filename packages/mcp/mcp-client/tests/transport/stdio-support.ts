/** What the tests of the stdio transport share: a process, and everything that its transport tells of it. */
import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import { onTestFinished } from 'vitest'
import { resolveConfig } from '../../src/config/resolve.ts'
import { Redactor } from '../../src/diagnostics/redactor.ts'
import { StdioTransport, type StdioOptions } from '../../src/transport/stdio.ts'

/** A transport, and all that it tells. */
export interface Watched {
  readonly transport: StdioTransport
  readonly messages: JSONRPCMessage[]
  readonly stderr: string[]
  readonly noise: string[]
  readonly errors: string[]
  /** How often the connection ended. */
  readonly closes: number
  /** Settles when the connection has ended. */
  readonly closed: Promise<void>
}

/** A transport of a process that is not started yet; closed with the test. */
export function watch(options: Partial<StdioOptions> & Pick<StdioOptions, 'command'>): Watched {
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  const { command, args = [], env = {} } = options
  const { endpoint } = resolveConfig({ serverName: 'one', transport: 'stdio', command, args, env })
  const watched = { messages: [], stderr: [], noise: [], errors: [], closes: 0, closed } as Omit<
    Watched,
    'transport' | 'closes'
  > & { closes: number }
  const transport = new StdioTransport({
    args,
    env,
    cwd: undefined,
    maxMessageBytes: 1_000_000,
    redactor: new Redactor(endpoint),
    onStderr: (line) => watched.stderr.push(line),
    onNoise: (sample) => watched.noise.push(sample),
    ...options,
  })
  transport.onmessage = (message) => watched.messages.push(message)
  transport.onerror = (error) => watched.errors.push(error.message)
  transport.onclose = () => {
    watched.closes++
    resolve()
  }
  onTestFinished(() => transport.close())
  return Object.assign(watched, { transport })
}

/** Start a program written in JavaScript. Its `say(value)` writes one message. */
export async function run(script: string, options: Partial<StdioOptions> = {}): Promise<Watched> {
  const say = `const say = (id, result = {}) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');`
  const watched = watch({
    command: process.execPath,
    args: ['--eval', `${say}\n${script}`, '--', ...(options.args ?? [])],
    ...Object.fromEntries(Object.entries(options).filter(([key]) => key !== 'args')),
  })
  await watched.transport.start()
  return watched
}

/** Ends a script as a server that waits for the end of its input. */
export const STAY = 'process.stdin.resume().on("end", () => process.exit(0));'
