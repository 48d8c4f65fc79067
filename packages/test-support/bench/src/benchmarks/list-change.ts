/** One of 5,000 tools changes: until the registry shows it, and what else the registry notices of it. */

import type { Benchmark } from '../benchmark.ts'
import {
  connectSdk,
  startOurs,
  startUpstream,
  type PluginContender,
  type ServerCommand,
} from '../contenders.ts'
import { ownSession } from '../own-session.ts'
import { compare, interleave } from '../rounds.ts'
import { announceChange, CHANGING_TOOL, manyTools } from '../servers.ts'

/** The changing tool's description in the server's list. */
interface Watched {
  /** Call back whenever it may be another one. */
  watch(onChange: () => void): () => void
  current(): string | undefined
  readonly pid: number
}

async function watchRegistry(contender: PluginContender, server: ServerCommand): Promise<Watched> {
  const connection = await contender.connect(server)
  const { ctx } = contender.host
  const name = contender.publicName(CHANGING_TOOL)
  return {
    pid: Number(await connection.call('pid')),
    // A step of changes comes as many events; the last of them are over when the event loop turns.
    watch: (onChange) => {
      let isDue = false
      return ctx.on('tools/change', () => {
        if (isDue) return
        isDue = true
        setImmediate(() => {
          isDue = false
          onChange()
        })
      })
    },
    current: () => ctx.tools.get(name)?.description,
  }
}

async function watchSdk(): Promise<Watched & { close(): Promise<void> }> {
  const { client, pid, tools, close } = await connectSdk(ownSession(manyTools()))
  let listed = tools
  let onListed = () => {}
  client.setNotificationHandler('notifications/tools/list_changed', async () => {
    listed = (await client.listTools()).tools
    onListed()
  })
  return {
    pid,
    watch: (onChange) => {
      onListed = onChange
      return () => (onListed = () => {})
    },
    current: () => listed.at(-1)?.description,
    close,
  }
}

/** How long a change takes from the server to whoever watches, in ms. */
async function timeToSee({ watch, current, pid }: Watched): Promise<number> {
  const before = current()
  const { promise, resolve } = Promise.withResolvers<number>()
  const unwatch = watch(() => {
    const now = performance.now()
    if (current() !== before) resolve(now)
  })
  const started = performance.now()
  announceChange(pid)
  const seen = await promise
  unwatch()
  return seen - started
}

/** How many changes of the registry are announced for one of the list. */
async function countEvents(contender: PluginContender, watched: Watched): Promise<number> {
  const before = contender.host.toolChanges
  await timeToSee(watched)
  return contender.host.toolChanges - before
}

/** The benchmark `list-change`. */
export const listChange: Benchmark = async ({ rounds = 20 }) => {
  await using ours = await startOurs()
  await using upstream = await startUpstream()
  const own = await watchRegistry(ours, manyTools())
  const published = await watchRegistry(upstream, ownSession(manyTools()))
  const sdk = await watchSdk()
  const samples = await interleave(
    {
      ours: () => timeToSee(own),
      reference: () => timeToSee(sdk),
      upstream: () => timeToSee(published),
    },
    { rounds, warmup: 3 },
  )
  await sdk.close()
  return {
    'list-change.time': compare(samples),
    'list-change.events': {
      ours: await countEvents(ours, own),
      upstream: await countEvents(upstream, published),
    },
  }
}
