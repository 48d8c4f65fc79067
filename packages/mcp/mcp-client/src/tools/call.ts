/** Calls one listed tool of an entry over its live connection, and puts what can go wrong into words. */
import type { ToolExecution } from '@deepseek-ai/dsh-tools'
import { ProtocolError, SdkError, SdkErrorCode, type Tool } from '@modelcontextprotocol/client'
import type { Supervisor } from '../connection/supervisor.ts'
import { ConnectionFailure, messageOf } from '../diagnostics/failure.ts'
import type { Redactor } from '../diagnostics/redactor.ts'
import type { RawToolResult } from './content-hold.ts'
import { McpCallError } from './errors.ts'

/** How the SDK's first generation, which most servers run on, begins the words of an error: with its code. */
const CODE_IN_WORDS = /^(?:MCP error -?\d+: )+/

/** What every request of an entry needs. */
export interface Caller {
  readonly serverName: string
  readonly timeoutMs: number
  readonly redactor: Redactor
  readonly supervisor: Supervisor
}

/**
 * The error for the model when a request failed.
 *
 * @param what - the request, as the subject of a sentence: `MCP tool "search" of server "web"`.
 */
export function callError(caller: Caller, what: string, error: unknown): McpCallError {
  if (error instanceof McpCallError) return error
  const options = { cause: error }
  if (error instanceof ConnectionFailure && error.isUnsent) {
    const message = `${what} was not called: ${error.message}. Try again in a few seconds, or go on without it.`
    return new McpCallError(message, 'MCP_UNAVAILABLE', options)
  }
  if (error instanceof ConnectionFailure) {
    return new McpCallError(
      `${what} failed: ${error.message}. Whether the call took effect is unknown; check before you repeat it.`,
      'MCP_CONNECTION_LOST',
      options,
    )
  }
  if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout) {
    return new McpCallError(
      `${what} did not answer within ${caller.timeoutMs} ms, and the call was cancelled. Whether it took effect is unknown; try a smaller request, or go on without it.`,
      'MCP_TIMEOUT',
      options,
    )
  }
  const said = messageOf(error).replace(CODE_IN_WORDS, '')
  const message = caller.redactor.excerpt(said)
  const verb = error instanceof ProtocolError ? `was refused with code ${error.code}` : 'failed'
  return new McpCallError(`${what} ${verb}: ${message}`, 'MCP_PROTOCOL_ERROR', options)
}

/**
 * Call a tool.
 *
 * @throws {McpCallError} when the call was not sent, or has no result.
 */
export async function callTool(
  caller: Caller,
  tool: Tool,
  args: Record<string, unknown>,
  exec: ToolExecution,
): Promise<RawToolResult> {
  // Made only when it is needed: showing a name costs more than the rest of this.
  const what = () =>
    `MCP tool ${JSON.stringify(caller.redactor.excerpt(tool.name, 100))} of server "${caller.serverName}"`
  if (tool.execution?.taskSupport === 'required') {
    throw new McpCallError(
      `${what()} runs only as a task, and this client does not support tasks. Use another tool.`,
      'MCP_UNSUPPORTED',
    )
  }
  try {
    return await caller.supervisor.use(
      (generation) => generation.callTool(tool, args, { signal: exec.signal, timeout: caller.timeoutMs }),
      exec.signal,
    )
  } catch (error) {
    if (!exec.signal.aborted) throw callError(caller, what(), error)
    // The SDK takes a cancellation for a timeout.
    const message = `${what()} was cancelled. Whether it took effect is unknown.`
    throw new McpCallError(message, 'MCP_CANCELLED', { cause: error })
  }
}
