import { ProtocolError, SdkError, SdkErrorCode } from '@modelcontextprotocol/client'
import { describe, expect, it } from 'vitest'
import { ConnectionFailure } from '../../src/diagnostics/failure.ts'
import { Redactor } from '../../src/diagnostics/redactor.ts'
import { McpCallError } from '../../src/index.ts'
import { callError, type Caller } from '../../src/tools/call.ts'

const TOKEN = 'very-secret-token'
const redactor = new Redactor({
  transport: 'stdio',
  command: 'x',
  args: [],
  env: { API_TOKEN: TOKEN },
  cwd: undefined,
})
const caller = { serverName: 'web', timeoutMs: 5000, redactor } as unknown as Caller
const WHAT = 'MCP tool "search" of server "web"'
const errorOf = (error: unknown) => callError(caller, WHAT, error)

describe('the error of a call', () => {
  it('is passed on when it is one already', () => {
    const error = new McpCallError('not connected', 'MCP_UNAVAILABLE')
    expect(errorOf(error)).toBe(error)
  })

  it.each<[string, unknown, string, string]>([
    [
      'a lost connection, whose effect is unknown',
      new ConnectionFailure('the server process exited with code 1'),
      'MCP_CONNECTION_LOST',
      `${WHAT} failed: the server process exited with code 1. Whether the call took effect is unknown; check before you repeat it.`,
    ],
    [
      'a call that never reached the server',
      new ConnectionFailure('nothing listens at localhost:1', { isUnsent: true }),
      'MCP_UNAVAILABLE',
      `${WHAT} was not called: nothing listens at localhost:1. Try again in a few seconds, or go on without it.`,
    ],
    [
      'a timeout, with the time and what to do',
      new SdkError(SdkErrorCode.RequestTimeout, 'Request timed out'),
      'MCP_TIMEOUT',
      `${WHAT} did not answer within 5000 ms, and the call was cancelled. Whether it took effect is unknown; try a smaller request, or go on without it.`,
    ],
    [
      'a refusal, with its code and words',
      new ProtocolError(-32602, 'Unknown tool: search'),
      'MCP_PROTOCOL_ERROR',
      `${WHAT} was refused with code -32602: Unknown tool: search`,
    ],
    [
      'a refusal by a server that puts the code into its words',
      new ProtocolError(-32602, 'MCP error -32602: MCP error -32602: Unknown tool: search'),
      'MCP_PROTOCOL_ERROR',
      `${WHAT} was refused with code -32602: Unknown tool: search`,
    ],
    [
      'another error of the SDK',
      new SdkError(SdkErrorCode.InvalidResult, 'Invalid result for tools/call'),
      'MCP_PROTOCOL_ERROR',
      `${WHAT} failed: Invalid result for tools/call`,
    ],
    ['something that is no error', 'odd', 'MCP_PROTOCOL_ERROR', `${WHAT} failed: odd`],
  ])('says of %s', (_, error, code, message) => {
    expect(errorOf(error)).toMatchObject({ name: 'McpCallError', code, message, cause: error })
  })

  it('holds no secret, no hidden character, and not too much', () => {
    const { message } = errorOf(new ProtocolError(1, `${TOKEN}\u202e${'x'.repeat(100_000)}`))
    expect(message).toContain('[redacted env.API_TOKEN]\\u{202e}xxx')
    expect(message.length).toBeLessThan(2200)
  })
})
