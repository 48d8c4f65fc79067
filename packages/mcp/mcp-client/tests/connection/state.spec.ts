import { describe, expect, it } from 'vitest'
import type { Generation } from '../../src/connection/generation.ts'
import { transition, type ConnectionState } from '../../src/connection/state.ts'
import { ConnectionFailure } from '../../src/diagnostics/failure.ts'

const failure = new ConnectionFailure('it failed')
const states = {
  connecting: { kind: 'connecting', cause: 'start', attempt: 1, settled: Promise.resolve() },
  connected: { kind: 'connected', generation: {} as Generation },
  backoff: { kind: 'backoff', attempt: 2, nextAttemptAt: 0, failure },
  failed: { kind: 'failed', failure },
  disposed: { kind: 'disposed' },
} satisfies Record<string, ConnectionState>
type Kind = keyof typeof states
const kinds = Object.keys(states) as Kind[]

const legal: Record<Kind, readonly Kind[]> = {
  connecting: ['connected', 'backoff', 'failed', 'disposed'],
  connected: ['connecting', 'backoff', 'failed', 'disposed'],
  backoff: ['connecting', 'disposed'],
  failed: ['disposed'],
  disposed: [],
}
const edges = kinds.flatMap((from) => kinds.map((to) => [from, to, legal[from].includes(to)] as const))

describe('a transition', () => {
  it.each(edges.filter(([, , isLegal]) => isLegal))('leads from %s to %s', (from, to) => {
    expect(transition<ConnectionState>(states[from], states[to])).toBe(states[to])
  })

  it.each(edges.filter(([, , isLegal]) => !isLegal))('does not lead from %s to %s', (from, to) => {
    expect(() => transition<ConnectionState>(states[from], states[to])).toThrow(
      `illegal transition of the connection from ${from} to ${to}`,
    )
  })

  it('starts with connecting', () => {
    expect(transition(undefined, states.connecting)).toBe(states.connecting)
    expect(() => transition<ConnectionState>(undefined, states.connected)).toThrow(
      'illegal transition of the connection from nothing to connected',
    )
  })
})
