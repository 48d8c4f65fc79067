/** A server announces 10,000 changes of its list at once: how often it is listed again. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { readJournal, stdioFixture } from '@dsh-mcp/fixtures'
import type { Benchmark } from '../benchmark.ts'
import { connectSdk, startOurs, startUpstream, type Connection, type ServerCommand } from '../contenders.ts'

const ANNOUNCEMENTS = 10_000

/** How long nothing may be listed for it to be over, in ms: longer than any debouncing. */
const QUIET_MS = 2000

async function listsFetched(connect: (server: ServerCommand) => Promise<Connection>): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'dsh-mcp-bench-'))
  const journal = join(folder, 'journal')
  const lists = () =>
    readJournal(journal).filter((entry) => entry.event === 'message' && entry.message.method === 'tools/list')
      .length
  const connection = await connect(stdioFixture('legacy', { journal }))
  const before = lists()
  await connection.call('notify', { count: ANNOUNCEMENTS })
  let seen: number
  do {
    seen = lists()
    await delay(QUIET_MS)
  } while (lists() !== seen)
  await connection.close()
  rmSync(folder, { recursive: true })
  return seen - before
}

/** The benchmark `burst`. */
export const burst: Benchmark = async () => {
  await using ours = await startOurs()
  await using upstream = await startUpstream()
  return {
    'burst.lists': {
      ours: await listsFetched(ours.connect),
      reference: await listsFetched((server) =>
        connectSdk(server, { listChanged: { tools: { onChanged: () => {} } } }),
      ),
      upstream: await listsFetched(upstream.connect),
    },
  }
}
