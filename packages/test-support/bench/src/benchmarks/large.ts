/**
 * Results of tens of megabytes: whether anything else gets its turn meanwhile, and how often they are in memory.
 *
 * There is no reference: the SDK's and the published client end the connection at messages of more than 10 MB.
 */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import * as mcpClient from '@deepseek-ai/dsh-mcp-client'
import { stdioFixture } from '@dsh-mcp/fixtures'
import { startHost } from '@dsh-mcp/host'
import type { Benchmark, Measured } from '../benchmark.ts'
import { interleave, median } from '../rounds.ts'
import { longestTurn, mostHeld } from '../turns.ts'

const BYTES = 30_000_000
const KINDS = ['text', 'lines', 'blob'] as const

/** The benchmark `large`. */
export const large: Benchmark = async ({ rounds = 5 }) => {
  const server = await startHttpServer()
  await using host = await startHost({ logLevel: 1 })
  const patient = { toolCallTimeoutMs: 600_000 }
  await host.mount(mcpClient, {
    serverName: 'stdio',
    transport: 'stdio',
    ...stdioFixture('legacy'),
    ...patient,
  })
  await host.mount(mcpClient, {
    serverName: 'http',
    transport: 'streamable-http',
    url: server.url,
    ...patient,
  })

  const measured: Record<string, Measured> = {}
  for (const transport of ['stdio', 'http']) {
    for (const kind of KINDS) {
      const run = async () => {
        const result = await host.call(`mcp__${transport}__big`, { bytes: BYTES, kind })
        if (result.isError) throw new Error(host.text(result))
        return result
      }
      const samples = await interleave(
        { turn: () => longestTurn(run), copies: async () => (await mostHeld(run)) / BYTES },
        { rounds },
      )
      measured[`large.${transport}.${kind}.turn`] = { ours: median(samples.turn) }
      measured[`large.${transport}.${kind}.copies`] = { ours: Math.max(...samples.copies) }
    }
  }
  server.stop()
  return measured
}

/** A server in a process of its own, so that its turns and its memory are not ours. */
async function startHttpServer(): Promise<{ url: string; stop: () => void }> {
  const program = fileURLToPath(new URL('../servers/http.ts', import.meta.url))
  const child = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'] })
  const [url] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  return { url, stop: () => child.stdin.end() }
}
