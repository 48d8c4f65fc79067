/** The end of a server behind a shell that also started a helper, as npm wrappers do. */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stdioFixture } from '@dsh-mcp/fixtures'
import { isAlive } from '@dsh-mcp/host'
import type { Benchmark } from '../benchmark.ts'
import { connectSdk, startOurs, startUpstream, type Connection, type ServerCommand } from '../contenders.ts'
import { compare, interleave } from '../rounds.ts'

const quote = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`

/** Run `sh -c 'helper & server'`, and return how long the end takes, in ms. */
async function timeToEnd(
  connect: (server: ServerCommand) => Promise<Connection>,
  onLeft: (count: number) => void,
): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'dsh-mcp-bench-'))
  const helper = join(folder, 'helper')
  const { command, args } = stdioFixture('legacy')
  const server = [command, ...args].map(quote).join(' ')
  const connection = await connect({
    command: 'sh',
    args: ['-c', `sleep 600 & echo $! > ${quote(helper)}; ${server}`],
  })
  const pids = [Number(readFileSync(helper, 'utf8')), Number(await connection.call('pid'))]
  const started = performance.now()
  await connection.close()
  const ms = performance.now() - started
  const left = pids.filter(isAlive)
  for (const pid of left) process.kill(pid, 'SIGKILL')
  onLeft(left.length)
  rmSync(folder, { recursive: true })
  return ms
}

/** The benchmark `dispose`. */
export const dispose: Benchmark = async ({ rounds = 5 }) => {
  await using ours = await startOurs()
  await using upstream = await startUpstream()
  const left = { ours: 0, reference: 0, upstream: 0 }
  const keep = (name: keyof typeof left) => (count: number) => (left[name] = Math.max(left[name], count))
  const samples = await interleave(
    {
      ours: () => timeToEnd(ours.connect, keep('ours')),
      reference: () => timeToEnd(connectSdk, keep('reference')),
      upstream: () => timeToEnd(upstream.connect, keep('upstream')),
    },
    { rounds, warmup: 0 },
  )
  return { 'dispose.left': left, 'dispose.time': compare(samples) }
}
