/** From nothing to the tools of one local legacy server, and what it takes in processes. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startedPids, stdioFixture } from '@dsh-mcp/fixtures'
import type { Benchmark } from '../benchmark.ts'
import { connectSdk, startOurs, startUpstream, type Connection, type ServerCommand } from '../contenders.ts'
import { ownSession } from '../own-session.ts'
import { quiet } from '../quiet.ts'
import { compare, interleave } from '../rounds.ts'

type Connect = (server: ServerCommand) => Promise<Connection>

/** How long it takes to connect, in ms. */
async function timeToTools(connect: Connect): Promise<number> {
  const started = performance.now()
  const connection = await connect(stdioFixture('legacy'))
  const ms = performance.now() - started
  if (connection.toolCount === 0) throw new Error('connected without tools')
  await connection.close()
  await quiet()
  return ms
}

/** How many processes it takes to connect. */
async function processesSpawned(connect: Connect): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'dsh-mcp-bench-'))
  const journal = join(folder, 'journal')
  const connection = await connect(stdioFixture('legacy', { journal }))
  await connection.close()
  await quiet()
  const count = startedPids(journal).length
  rmSync(folder, { recursive: true })
  return count
}

/** The benchmark `start`. */
export const start: Benchmark = async ({ rounds = 25 }) => {
  await using ours = await startOurs()
  await using upstream = await startUpstream()
  const samples = await interleave(
    {
      ours: () => timeToTools(ours.connect),
      reference: () => timeToTools((server) => connectSdk(ownSession(server))),
      upstream: () => timeToTools((server) => upstream.connect(ownSession(server))),
    },
    { rounds, warmup: 2 },
  )
  return {
    'start.time': compare(samples),
    'start.processes': {
      ours: await processesSpawned(ours.connect),
      reference: await processesSpawned(connectSdk),
      upstream: await processesSpawned(upstream.connect),
    },
  }
}
