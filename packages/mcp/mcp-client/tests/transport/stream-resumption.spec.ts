/** When a stream is opened again: within bounds, ever later when it brings nothing, and never after the end. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { StreamResumption } from '../../src/transport/stream-resumption.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** How long a resumption that was asked for with this delay takes, in ms. */
function waitOf(resumption: StreamResumption, delayMs: number): number {
  let isResumed = false
  const before = Date.now()
  resumption.schedule(() => (isResumed = true), delayMs)
  while (!isResumed) vi.advanceTimersToNextTimer()
  return Date.now() - before
}

describe('the resumption of a stream', () => {
  it('comes after the delay that was asked for', () => {
    expect(waitOf(new StreamResumption(), 700)).toBe(700)
  })

  it('comes no sooner than 100 ms, whatever the server asks for', () => {
    expect(waitOf(new StreamResumption(), 0)).toBe(100)
  })

  it.each([60_000, 2 ** 40, Number.POSITIVE_INFINITY])(
    'comes no later than 30 s, although %d ms were asked for',
    (delayMs) => {
      expect(waitOf(new StreamResumption(), delayMs)).toBe(30_000)
    },
  )

  it('comes ever later while streams end without a byte, up to 30 s', () => {
    const resumption = new StreamResumption()
    const waits = Array.from({ length: 12 }, () => waitOf(resumption, 0))
    expect(waits).toEqual([100, 200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000, 30_000])
  })

  it('comes soon again after a stream brought something', () => {
    const resumption = new StreamResumption()
    for (let round = 0; round < 5; round++) waitOf(resumption, 0)
    resumption.progressed()
    expect(waitOf(resumption, 0)).toBe(100)
  })

  it('can be called off', () => {
    const resumption = new StreamResumption()
    const resume = vi.fn<() => void>()
    const callOff = resumption.schedule(resume, 100)
    callOff()
    expect(vi.getTimerCount()).toBe(0)
    expect(resume).not.toHaveBeenCalled()
  })

  it('does not come after the end, however many are waiting', () => {
    const resumption = new StreamResumption()
    const resume = vi.fn<() => void>()
    for (let stream = 0; stream < 3; stream++) resumption.schedule(resume, 100)
    resumption.cancel()
    expect(vi.getTimerCount()).toBe(0)
    vi.advanceTimersByTime(60_000)
    expect(resume).not.toHaveBeenCalled()
  })
})
