/** How many reports announcements come to: one at once, and one for all that follow it closely. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Announcements } from '../../src/connection/announcements.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

function announcements() {
  const end = new AbortController()
  const report = vi.fn<() => void>()
  const made = new Announcements(report, end.signal)
  const reports = () => report.mock.calls.length
  return { made, reports, end: () => end.abort() }
}

const pass = (ms: number) => vi.advanceTimersByTime(ms)

describe('an announcement', () => {
  it('is reported at once', () => {
    const { made, reports } = announcements()
    made.announce()
    expect(reports()).toBe(1)
    pass(60_000)
    expect(reports()).toBe(1)
  })

  it('is reported at once again after a pause', () => {
    const { made, reports } = announcements()
    for (let count = 1; count <= 5; count++) {
      made.announce()
      expect(reports()).toBe(count)
      pass(200)
    }
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('announcements that follow closely', () => {
  it('are reported together, when they have ended', () => {
    const { made, reports } = announcements()
    for (let count = 0; count < 10_000; count++) made.announce()
    expect(reports()).toBe(1)
    pass(199)
    expect(reports()).toBe(1)
    pass(2)
    expect(reports()).toBe(2)
    pass(60_000)
    expect(reports()).toBe(2)
  })

  it('are reported together however long they take to come', () => {
    const { made, reports } = announcements()
    for (let count = 0; count < 40; count++) {
      made.announce()
      pass(100)
    }
    expect(reports()).toBe(1)
    pass(1000)
    expect(reports()).toBe(2)
  })

  it('without an end are reported twice a minute', () => {
    const { made, reports } = announcements()
    for (let count = 0; count < 1000; count++) {
      made.announce()
      pass(100)
    }
    expect(reports()).toBe(4)
  })

  it('that wait to be read when the time is up are heard first', () => {
    const { made, reports } = announcements()
    made.announce()
    made.announce()
    // The event loop was busy for longer than the pause, and the rest comes in before the next turn.
    vi.advanceTimersToNextTimer()
    made.announce()
    pass(150)
    expect(reports()).toBe(1)
    pass(100)
    expect(reports()).toBe(2)
  })

  it('keep the last one of them', () => {
    const { made, reports } = announcements()
    made.announce()
    pass(150)
    made.announce()
    pass(201)
    expect(reports()).toBe(2)
  })
})

describe('the end', () => {
  it('lets nothing be reported any more, and leaves no timer', () => {
    const { made, reports, end } = announcements()
    made.announce()
    made.announce()
    end()
    expect(vi.getTimerCount()).toBe(0)
    pass(60_000)
    expect(reports()).toBe(1)
  })

  it('may come when the time is just up', () => {
    const { made, reports, end } = announcements()
    made.announce()
    made.announce()
    vi.advanceTimersToNextTimer()
    end()
    pass(1000)
    expect(reports()).toBe(1)
  })
})
