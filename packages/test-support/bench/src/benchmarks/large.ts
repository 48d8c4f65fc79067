/** Results of tens of megabytes: whether anything else gets its turn meanwhile, and how often they are in memory. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { stdioFixture } from '@dsh-mcp/fixtures'
import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import type { Benchmark, Measured } from '../benchmark.ts'
import {
  startOurs,
  startUpstream,
  type Connection,
  type ServerCommand,
  type ServerUrl,
} from '../contenders.ts'
import { interleave, median } from '../rounds.ts'
import { longestTurn, mostHeld } from '../turns.ts'

const BYTES = 30_000_000
const KINDS = ['text', 'lines', 'blob'] as const

/** The benchmark `large`. */
export const large: Benchmark = async ({ rounds = 5 }) => {
  const server = await startHttpServer()
  await using ours = await startOurs()
  await using upstream = await startUpstream()
  const command = stdioFixture('legacy')
  const measured: Record<string, Measured> = {}
  const addresses: Record<'stdio' | 'http', ServerCommand | ServerUrl> = { stdio: command, http: server }
  for (const [transport, address] of Object.entries(addresses)) {
    const connections = {
      ours: await ours.connect(address),
      reference: await connectSdk(address),
      upstream: await upstream.connect(address),
    }
    for (const kind of KINDS) {
      const calls = await possible(connections, kind)
      const id = `large.${transport}.${kind}`
      measured[`${id}.turn`] = await inTurns(calls, longestTurn, rounds)
      measured[`${id}.copies`] = await inTurns(calls, copies, rounds)
    }
    for (const connection of Object.values(connections)) await connection.close()
  }
  server.stop()
  return measured
}

type Callable = Pick<Connection, 'call' | 'close'>
type Name = 'ours' | 'reference' | 'upstream'
type Calls = { ours: () => Promise<unknown> } & Partial<Record<Name, () => Promise<unknown>>>

/** The calls of those who can take a result of this size at all. */
async function possible(connections: Readonly<Record<Name, Callable>>, kind: string): Promise<Calls> {
  const calls: Partial<Calls> = {}
  for (const name of Object.keys(connections) as Name[]) {
    const run = () => connections[name].call('big', { bytes: BYTES, kind })
    try {
      await run()
      calls[name] = run
    } catch (error) {
      if (name === 'ours') throw error
      process.stderr.write(`  ${kind}: ${name} fails: ${String(error).slice(0, 200)}\n`)
    }
  }
  return calls as Calls
}

async function copies(run: () => Promise<unknown>): Promise<number> {
  return (await mostHeld(run)) / BYTES
}

async function inTurns(
  calls: Calls,
  measure: (run: () => Promise<unknown>) => Promise<number>,
  rounds: number,
): Promise<Measured> {
  const contenders = Object.entries(calls).map(([name, run]) => [name, () => measure(run)])
  const samples = await interleave(Object.fromEntries(contenders) as Record<Name, () => Promise<number>>, {
    rounds,
  })
  const medians = Object.entries(samples).map(([name, values]) => [name, median(values)])
  return Object.fromEntries(medians) as Measured
}

async function startHttpServer(): Promise<{ url: string; stop: () => void }> {
  const program = fileURLToPath(new URL('../servers/http.ts', import.meta.url))
  const child = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'] })
  const [url] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  return { url, stop: () => child.stdin.end() }
}

/** The SDK's client alone, with a limit that lets the message pass. */
async function connectSdk(address: ServerCommand | ServerUrl): Promise<Callable> {
  const client = new Client({ name: 'bench', version: '1.0.0' })
  const transport: Transport =
    'url' in address
      ? new StreamableHTTPClientTransport(new URL(address.url))
      : new StdioClientTransport({
          ...address,
          args: [...address.args],
          stderr: 'ignore',
          maxBufferSize: 2 * BYTES,
        })
  await client.connect(transport)
  return {
    call: async (name, args = {}) => {
      const { content } = await client.callTool({ name, arguments: args })
      return content.map(({ type }) => type).join()
    },
    close: async () => await client.close(),
  }
}
