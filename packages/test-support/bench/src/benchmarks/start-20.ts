/** Twenty servers, started at the same moment. */

import { stdioFixture } from '@dsh-mcp/fixtures'
import type { Benchmark } from '../benchmark.ts'
import { connectSdk, startOurs, startUpstream, type Connection, type ServerCommand } from '../contenders.ts'
import { ownSession } from '../own-session.ts'
import { quiet } from '../quiet.ts'
import { compare, interleave } from '../rounds.ts'

const SERVERS = 20

/** How long it takes until the last of them has its tools, in ms. */
async function timeToAll(connect: (server: ServerCommand) => Promise<Connection>): Promise<number> {
  const started = performance.now()
  const connections = await Promise.all(
    Array.from({ length: SERVERS }, () => connect(stdioFixture('legacy'))),
  )
  const ms = performance.now() - started
  if (connections.some(({ toolCount }) => toolCount === 0)) throw new Error('connected without tools')
  await Promise.all(connections.map((connection) => connection.close()))
  await quiet()
  return ms
}

/** The benchmark `start-20`. */
export const start20: Benchmark = async ({ rounds = 7 }) => {
  await using ours = await startOurs()
  await using upstream = await startUpstream()
  const samples = await interleave(
    {
      ours: () => timeToAll(ours.connect),
      reference: () => timeToAll((server) => connectSdk(ownSession(server))),
      upstream: () => timeToAll((server) => upstream.connect(ownSession(server))),
    },
    { rounds },
  )
  return { 'start-20.time': compare(samples) }
}
