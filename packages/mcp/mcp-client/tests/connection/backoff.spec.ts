import { describe, expect, it } from 'vitest'
import {
  afterFailure,
  afterLoss,
  NO_OUTAGE,
  planRecovery,
  type Outage,
} from '../../src/connection/backoff.ts'

const policy = { enabled: true, initialDelayMs: 500, maxDelayMs: 30_000, maxAttempts: 10 }

/** The delays of an outage in which every attempt fails. */
function delays(of: typeof policy, from: Outage = NO_OUTAGE): number[] {
  const found: number[] = []
  let plan = planRecovery(afterFailure(from), of)
  while (plan.kind === 'retry') {
    found.push(plan.delayMs)
    plan = planRecovery(afterFailure(plan.outage), of)
  }
  return found
}

describe('the delays of an outage', () => {
  it('double from the first to the longest, once for each attempt but the last', () => {
    expect(delays(policy)).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000])
  })

  it('are none when there is one attempt only', () => {
    expect(delays({ ...policy, maxAttempts: 1 })).toEqual([])
  })

  it('stay 0 when the first is 0', () => {
    expect(delays({ ...policy, initialDelayMs: 0, maxAttempts: 4 })).toEqual([0, 0, 0])
  })

  it('stay finite for the largest policy that is accepted', () => {
    const max = 2_147_483_647
    const plan = planRecovery(
      { failures: 999_999, delays: 999_998 },
      { enabled: true, initialDelayMs: 1, maxDelayMs: max, maxAttempts: 1_000_000 },
    )
    expect(plan).toMatchObject({ kind: 'retry', delayMs: max })
  })

  it('do not begin when reconnection is off', () => {
    expect(planRecovery(NO_OUTAGE, { ...policy, enabled: false })).toEqual({ kind: 'give-up' })
  })

  it('are at least what the server asked for, and at most the longest', () => {
    expect(planRecovery(NO_OUTAGE, policy, 700)).toMatchObject({ delayMs: 700 })
    expect(planRecovery(NO_OUTAGE, policy, 100)).toMatchObject({ delayMs: 500 })
    expect(planRecovery(NO_OUTAGE, policy, 86_400_000)).toMatchObject({ delayMs: 30_000 })
  })
})

describe('the budget of an outage', () => {
  const used: Outage = { failures: 3, delays: 3 }

  it('is full again after a connection that lasted longer than the longest delay', () => {
    expect(afterLoss(used, 30_001, policy)).toEqual(NO_OUTAGE)
  })

  it('goes on after a connection that did not, which counts as a failed attempt', () => {
    expect(afterLoss(used, 30_000, policy)).toEqual({ failures: 4, delays: 3 })
    expect(afterLoss(NO_OUTAGE, 0, policy)).toEqual({ failures: 1, delays: 0 })
  })

  it('runs out for a server that crashes right after each start', () => {
    let outage = NO_OUTAGE
    let starts = 1
    for (;;) {
      const plan = planRecovery(afterLoss(outage, 5, policy), policy)
      if (plan.kind === 'give-up') break
      outage = plan.outage
      starts++
    }
    expect(starts).toBe(policy.maxAttempts)
  })

  it('never changes a value that somebody holds', () => {
    const held = Object.freeze({ failures: 1, delays: 1 })
    planRecovery(afterFailure(held), policy)
    expect(held).toEqual({ failures: 1, delays: 1 })
  })
})
