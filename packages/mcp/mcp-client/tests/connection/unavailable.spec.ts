import { describe, expect, it } from 'vitest'
import { unavailableError } from '../../src/connection/unavailable.ts'
import { ConnectionFailure } from '../../src/diagnostics/failure.ts'

const policy = { enabled: true, initialDelayMs: 500, maxDelayMs: 30_000, maxAttempts: 10 }
const failure = new ConnectionFailure('the server process exited with code 1')
type State = Parameters<typeof unavailableError>[1]
const messageIn = (state: State) => unavailableError('files', state, policy).message

describe('a call that was not sent', () => {
  it('says so, with a code for policies', () => {
    expect(unavailableError('files', { kind: 'disposed' }, policy)).toMatchObject({
      code: 'MCP_UNAVAILABLE',
      message: 'The call was not sent: MCP server "files" is no longer available. Go on without it.',
    })
    expect(messageIn(undefined)).toBe(messageIn({ kind: 'disposed' }))
  })

  it('says why, and when the next attempt starts', () => {
    const state: State = { kind: 'backoff', attempt: 3, nextAttemptAt: Date.now() + 3_600_000, failure }
    expect(messageIn(state)).toMatch(
      /^The call was not sent: MCP server "files" is not connected: the server process exited with code 1\. The next connection attempt \(3 of 10\) starts in about (3600|3599|35\d\d) s; try again after that, or go on without it\.$/u,
    )
  })

  it('never promises an attempt in the past', () => {
    const state: State = { kind: 'backoff', attempt: 3, nextAttemptAt: 0, failure }
    expect(messageIn(state)).toContain('starts in about 1 s')
  })

  it('says that an attempt is being made', () => {
    const settled = Promise.resolve()
    expect(messageIn({ kind: 'connecting', cause: 'retry', attempt: 2, settled })).toBe(
      'The call was not sent: MCP server "files" is connecting now (attempt 2 of 10). Try again in a few seconds, or go on without it.',
    )
  })

  it('says that no attempt will be made', () => {
    expect(messageIn({ kind: 'failed', failure })).toBe(
      'The call was not sent: MCP server "files" is not connected, and no further attempt will be made: the server process exited with code 1. Go on without it; its operator has to reload the entry.',
    )
  })
})
