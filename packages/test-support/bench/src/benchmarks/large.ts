/**
 * Results of tens of megabytes: whether anything else gets its turn meanwhile, and how often they are in memory.
 *
 * The SDK's and the published client end the connection at messages of more than 10 MB. The reference of a turn is a
 * tool that has the same result ready: what the host takes for it in one go, whoever provides it.
 */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setImmediate } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import * as mcpClient from '@deepseek-ai/dsh-mcp-client'
import type { JsonObject } from '@dsh-mcp/fixtures'
import { startHost, type TestHost } from '@dsh-mcp/host'
import type { Benchmark, Measured } from '../benchmark.ts'
import { LARGE_RESULTS } from '../large-results.ts'
import { interleave, median } from '../rounds.ts'
import { longestTurn, mostHeld } from '../turns.ts'

const PROGRAM = fileURLToPath(new URL('../servers/large.ts', import.meta.url))

/** Looks at the memory take the most of the time, and differ little. */
const HELD_ROUNDS = 2

/** The benchmark `large`. */
export const large: Benchmark = async ({ rounds = 5 }) => {
  const server = await startHttpServer()
  await using host = await startHost({ logLevel: 1 })
  const patient = { toolCallTimeoutMs: 600_000 }
  await host.mount(mcpClient, {
    serverName: 'stdio',
    transport: 'stdio',
    command: process.execPath,
    args: [PROGRAM],
    ...patient,
  })
  await host.mount(mcpClient, {
    serverName: 'http',
    transport: 'streamable-http',
    url: server.url,
    ...patient,
  })

  const call = async (tool: string) => {
    const result = await host.call(tool, {})
    if (result.isError) throw new Error(host.text(result))
    return result
  }
  const prepare = registerReady(host)

  const measured: Record<string, Measured> = {}
  for (const transport of ['stdio', 'http']) {
    for (const [kind, { bytes, make }] of Object.entries(LARGE_RESULTS)) {
      const run = () => call(`mcp__${transport}__${kind}`)
      const samples = await interleave(
        {
          turn: () => longestTurn(run),
          ready: async () => {
            prepare(make())
            return await longestTurn(() => call('ready'))
          },
        },
        { rounds },
      )
      const held: number[] = []
      for (let round = 0; round < HELD_ROUNDS; round++) held.push(await mostHeld(run))
      const turn = { ours: median(samples.turn), reference: median(samples.ready) }
      measured[`large.${transport}.${kind}.turn`] = turn
      measured[`large.${transport}.${kind}.copies`] = { ours: Math.max(...held) / bytes }
    }
  }
  server.stop()
  return measured
}

/** Register a tool that returns what was prepared, once, and shows nothing of it. */
function registerReady({ ctx }: TestHost): (result: JsonObject) => void {
  let ready: JsonObject | undefined
  ctx.tools.register({
    name: 'ready',
    description: 'Returns what was prepared',
    parameters: { type: 'object' },
    output: { schema: {}, render: () => [{ type: 'text', text: 'done' }] },
    execute: async () => {
      const result = ready
      ready = undefined
      await setImmediate()
      return result
    },
  })
  return (result) => (ready = result)
}

/** A server in a process of its own, so that its turns and its memory are not ours. */
async function startHttpServer(): Promise<{ url: string; stop: () => void }> {
  const child = spawn(process.execPath, [PROGRAM, 'http'], { stdio: ['pipe', 'pipe', 'inherit'] })
  const [url] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  return { url, stop: () => child.stdin.end() }
}
