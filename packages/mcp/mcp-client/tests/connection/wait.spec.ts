import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { waitAtMost } from '../../src/connection/wait.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const never = new Promise<void>(() => {})

describe('a wait', () => {
  it('ends with what is waited for', async () => {
    await waitAtMost(1000, undefined, Promise.resolve())
    expect(vi.getTimerCount()).toBe(0)
  })

  it.each([
    ['something that does not come', never],
    ['nothing', undefined],
  ])('for %s ends after the bound, and not before', async (_what, wanted) => {
    let isOver = false
    const wait = waitAtMost(1000, undefined, wanted).then(() => (isOver = true))
    await vi.advanceTimersByTimeAsync(999)
    expect(isOver).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    await wait
    expect(isOver).toBe(true)
  })

  it('ends when the signal aborts, and leaves neither timer nor listener', async () => {
    const controller = new AbortController()
    const removed = vi.spyOn(controller.signal, 'removeEventListener')
    const wait = waitAtMost(1000, controller.signal, never)
    controller.abort()
    await wait
    expect(vi.getTimerCount()).toBe(0)
    expect(removed).toHaveBeenCalledOnce()
  })

  it('does not begin when the signal has aborted', async () => {
    await waitAtMost(1000, AbortSignal.abort(), never)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('fails with what is waited for', async () => {
    await expect(waitAtMost(1000, undefined, Promise.reject(new Error('no')))).rejects.toThrow('no')
    expect(vi.getTimerCount()).toBe(0)
  })
})
