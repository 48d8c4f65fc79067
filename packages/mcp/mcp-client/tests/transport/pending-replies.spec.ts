import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { MAX_PENDING, PendingReplies, STALL_MS } from '../../src/transport/pending-replies.ts'

function pending() {
  const told: string[] = []
  const source = { hold: () => void told.push('hold'), release: () => void told.push('release') }
  return { told, replies: new PendingReplies(source, () => told.push('stall')) }
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it('up to the bound nothing happens, however long it takes', () => {
  const { told, replies } = pending()
  replies.add(MAX_PENDING - 1)
  replies.add(1)
  vi.advanceTimersByTime(10 * STALL_MS)
  replies.remove(1)
  expect(told).toEqual([])
})

it('over the bound the source is held until enough was read', () => {
  const { told, replies } = pending()
  replies.add(MAX_PENDING)
  replies.add(10)
  expect(told).toEqual(['hold'])
  replies.remove(5)
  expect(told).toEqual(['hold'])
  replies.remove(5)
  expect(told).toEqual(['hold', 'release'])
  vi.advanceTimersByTime(10 * STALL_MS)
  expect(told).toHaveLength(2)
})

it('a stall is reported, unless answers are read meanwhile', () => {
  const { told, replies } = pending()
  replies.add(3)
  replies.add(MAX_PENDING)
  for (let read = 0; read < 2; read++) {
    vi.advanceTimersByTime(STALL_MS - 1)
    replies.remove(1)
  }
  expect(told).toEqual(['hold'])
  vi.advanceTimersByTime(STALL_MS)
  expect(told).toEqual(['hold', 'stall'])
})

it('at the end the source goes on, and nothing is waited for any more', () => {
  const { told, replies } = pending()
  replies.add(MAX_PENDING + 1)
  replies.end()
  replies.end()
  replies.add(1)
  replies.remove(1)
  vi.advanceTimersByTime(10 * STALL_MS)
  expect(told).toEqual(['hold', 'release'])
  expect(vi.getTimerCount()).toBe(0)
})
