/** What 5,000 tools take of the heap while they are registered. */

import type { Benchmark } from '../benchmark.ts'
import { connectSdk, startOurs, startUpstream, type Connection, type ServerCommand } from '../contenders.ts'
import { compare, interleave } from '../rounds.ts'
import { manyTools } from '../servers.ts'

/** Bytes of live objects and of what they hold outside of the heap. */
async function heldBytes(): Promise<number> {
  if (globalThis.gc === undefined) throw new Error('this benchmark needs --expose-gc')
  // What ended in this turn is collectable in the next.
  for (let turn = 0; turn < 3; turn++) {
    await new Promise((resolve) => setImmediate(resolve))
    globalThis.gc()
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** How much a connection holds, in MB. */
async function heldByConnection(connect: (server: ServerCommand) => Promise<Connection>): Promise<number> {
  const before = await heldBytes()
  const connection = await connect(manyTools())
  const held = (await heldBytes()) - before
  await connection.close()
  return held / 1e6
}

/** The benchmark `memory`. */
export const memory: Benchmark = async ({ rounds = 5 }) => {
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
