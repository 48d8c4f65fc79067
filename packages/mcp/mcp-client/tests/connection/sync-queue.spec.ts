import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import type { Generation } from '../../src/connection/generation.ts'
import { SyncQueue } from '../../src/connection/sync-queue.ts'

/** A generation as far as the queue looks at it: an identity. */
const generation = (name: string) => ({ name }) as unknown as Generation

/** A queue whose syncs end when a test says so. */
function manual() {
  const started: string[] = []
  const ends: PromiseWithResolvers<void>[] = []
  let running = 0
  let mostAtOnce = 0
  const queue = new SyncQueue(async (target) => {
    started.push((target as unknown as { name: string }).name)
    mostAtOnce = Math.max(mostAtOnce, ++running)
    const end = Promise.withResolvers<void>()
    ends.push(end)
    try {
      await end.promise
    } finally {
      running--
    }
  })
  const settle = async () => {
    for (let tick = 0; tick < 20; tick++) await Promise.resolve()
  }
  return {
    queue,
    started,
    settle,
    end: async (error?: Error) => {
      const oldest = ends.shift()!
      if (error === undefined) oldest.resolve()
      else oldest.reject(error)
      await settle()
    },
    endSoon: () => ends.shift()?.resolve(),
    get running() {
      return running
    },
    get mostAtOnce() {
      return mostAtOnce
    },
  }
}

const a = generation('a')
const b = generation('b')

describe('a queue of syncs', () => {
  it('runs one at once, and at once when it is idle', async () => {
    const { queue, started, end, settle } = manual()
    const first = queue.request(a)
    expect(started).toEqual(['a'])
    await settle()
    await end()
    await expect(first).resolves.toBeUndefined()
  })

  it('collapses a burst to the running sync and one more', async () => {
    const { queue, started, end } = manual()
    const requests = Array.from({ length: 10_000 }, () => queue.request(a))
    expect(started).toHaveLength(1)
    await end()
    expect(started).toHaveLength(2)
    await end()
    await Promise.all(requests)
    expect(started).toHaveLength(2)
  })

  it('serves whoever asks while a sync waits with that one, for the generation of the latest', async () => {
    const { queue, started, end } = manual()
    const running = queue.request(a)
    const waiting = queue.request(a)
    const latest = queue.request(b)
    expect(latest).toBe(waiting)
    expect(latest).not.toBe(running)
    await end()
    expect(started).toEqual(['a', 'b'])
    await end()
    await latest
  })

  it('goes on after a failed sync, and tells only those that it served', async () => {
    const { queue, started, end } = manual()
    const outcomes = [queue.request(a), queue.request(b)].map((request) =>
      request.catch((error: Error) => error.message),
    )
    await end(new Error('no list'))
    expect(started).toEqual(['a', 'b'])
    await end(new Error('no list either'))
    expect(await Promise.all(outcomes)).toEqual(['no list', 'no list either'])
    const third = queue.request(a)
    await end()
    await expect(third).resolves.toBeUndefined()
  })

  it('is idle when nothing runs or waits', async () => {
    const { queue, end } = manual()
    await queue.idle()
    const requests = [queue.request(a), queue.request(b)]
    let isIdle = false
    const idle = queue.idle().then(() => {
      isIdle = true
    })
    await end()
    expect(isIdle).toBe(false)
    await end()
    await idle
    await Promise.all(requests)
    expect(isIdle).toBe(true)
  })

  it('is idle after a failure, too', async () => {
    const { queue, end } = manual()
    const request = queue.request(a).catch((error: Error) => error.message)
    const idle = queue.idle()
    await end(new Error('no list'))
    await idle
    expect(await request).toBe('no list')
  })

  it('never runs two syncs at once, at whatever moment somebody asks', async () => {
    // Requests come at every point between the end of one sync and the start of the next, by microtask.
    const moments = fc.array(fc.integer({ min: 0, max: 8 }), { minLength: 1, maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(moments, async (ticks) => {
        const state = manual()
        const requests = [state.queue.request(a), state.queue.request(a)]
        for (const count of ticks) {
          state.endSoon()
          for (let tick = 0; tick < count; tick++) await Promise.resolve()
          requests.push(state.queue.request(b))
        }
        const idle = vi.fn()
        requests.push(state.queue.idle().then(idle))
        while (idle.mock.calls.length === 0) {
          state.endSoon()
          await state.settle()
        }
        await Promise.all(requests)
        expect(state.mostAtOnce).toBe(1)
        expect(state.running).toBe(0)
      }),
    )
  })
})
