import { describe, expect, it } from 'vitest'
import { LEGACY_NEGOTIATION, negotiate } from '../../src/connection/negotiation.ts'

const probe = (failures: number) =>
  negotiate('stdio', 'unknown', failures).client.versionNegotiation?.probe?.timeoutMs

describe('negotiation', () => {
  it('offers the modern protocol to a server that is not known', () => {
    expect(negotiate('stdio', 'unknown', 0)).toMatchObject({
      client: { versionNegotiation: { mode: 'auto' } },
      connect: {},
    })
    expect(negotiate('streamable-http', 'unknown', 3)).toEqual({
      client: { versionNegotiation: { mode: 'auto', probe: {} } },
      connect: {},
    })
  })

  it('does not offer it again to a server that is known to be legacy', () => {
    expect(negotiate('stdio', 'legacy', 0)).toBe(LEGACY_NEGOTIATION)
    expect(LEGACY_NEGOTIATION).toEqual({ client: {}, connect: { prior: { kind: 'legacy' } } })
  })

  it('waits longer for a local process with each failed attempt, up to a minute', () => {
    expect([0, 1, 2, 3, 4, 1_000_000].map(probe)).toEqual([5000, 10_000, 20_000, 40_000, 60_000, 60_000])
  })
})
