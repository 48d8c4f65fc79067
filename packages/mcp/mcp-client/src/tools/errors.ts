/** Failures of a call, in words for the model: what failed, and what it can do next. */
import { ToolNotFoundError } from '@deepseek-ai/dsh-tools'

/**
 * The class of errors whose code the registry reports. It is taken from one of the registry's own errors, so that it
 * is the very class that the registry looks for, and its package need not be a peer of this one (decision 0009).
 */
const CodedError = Object.getPrototypeOf(ToolNotFoundError) as new (
  message: string,
  code: string,
  options?: ErrorOptions,
) => Error & { readonly code: string }

/** What kind of failure a call met. Stable; for policies that route on it. */
export type McpCallErrorCode =
  /** The tool ran and reported an error (`isError`). */
  | 'MCP_TOOL_ERROR'
  /** The server refused the request, or answered outside the protocol. */
  | 'MCP_PROTOCOL_ERROR'
  /** What the tool returned is not a tool result, or breaks its own output schema. */
  | 'MCP_INVALID_RESULT'
  /** There is no connection, so the call was not sent. */
  | 'MCP_UNAVAILABLE'
  /** The connection was lost while the call ran; whether it took effect is unknown. */
  | 'MCP_CONNECTION_LOST'
  /** The server did not answer in time. */
  | 'MCP_TIMEOUT'
  /** The call was cancelled by the host; whether it took effect is unknown. */
  | 'MCP_CANCELLED'
  /** The call needs something of the protocol that is not supported. */
  | 'MCP_UNSUPPORTED'

/** A failed call of an MCP tool or resource. The message is clean and written for the model. */
export class McpCallError extends CodedError {
  declare readonly code: McpCallErrorCode

  constructor(message: string, code: McpCallErrorCode, options?: ErrorOptions) {
    super(message, code, options)
  }
}
