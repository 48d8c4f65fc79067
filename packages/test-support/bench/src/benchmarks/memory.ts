/** What 5,000 tools take of the memory while they are registered. */

import { setImmediate } from 'node:timers/promises'
import type { Benchmark } from '../benchmark.ts'
import { connectSdk, startOurs, startUpstream, type Connection, type ServerCommand } from '../contenders.ts'
import { compare, interleave } from '../rounds.ts'
import { manyTools } from '../servers.ts'
import { heldBytes } from '../turns.ts'

/** {@link heldBytes} when what has just ended is garbage, too. */
async function settledBytes(): Promise<number> {
  for (let turn = 0; turn < 3; turn++) {
    await setImmediate()
    heldBytes()
  }
  return heldBytes()
}

/** How much a connection holds, in MB. */
async function heldByConnection(connect: (server: ServerCommand) => Promise<Connection>): Promise<number> {
  const before = await settledBytes()
  const connection = await connect(manyTools())
  const held = (await settledBytes()) - before
  await connection.close()
  return held / 1e6
}

/** The benchmark `memory`. */
export const memory: Benchmark = async ({ rounds = 3 }) => {
  await using ours = await startOurs()
  await using upstream = await startUpstream()
  const samples = await interleave(
    {
      ours: () => heldByConnection(ours.connect),
      reference: () => heldByConnection(connectSdk),
      upstream: () => heldByConnection(upstream.connect),
    },
    { rounds },
  )
  return { 'memory.tools': compare(samples) }
}
