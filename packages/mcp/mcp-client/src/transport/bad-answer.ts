/**
 * Answers that are not JSON-RPC. Whoever waits for one would wait in vain, so an error stands in its place.
 *
 * Invariant: only what answers a request is taken for an answer; everything else is noise.
 */
import { ProtocolError, type JSONRPCMessage, type RequestId } from '@modelcontextprotocol/client'
import { messageOf } from '../diagnostics/failure.ts'
import { isRecord } from '../tools/result.ts'

/** JSON-RPC code of the error. */
const CODE = -32_700

/** Marks the error: what comes over the wire is never this object. */
const MARK = Object.freeze({})

/**
 * The error that stands for an answer that is none, or `undefined` for what answers nothing.
 *
 * @param text - the line.
 * @param value - what it is as JSON; `undefined` when it is none.
 * @param error - why it is no message.
 */
export function badAnswer(text: string, value: unknown, error: unknown): JSONRPCMessage | undefined {
  const id = value === undefined ? idInText(text) : idOf(value)
  if (id === undefined) return undefined
  const message = `the server's answer is not JSON-RPC: ${faultOf(value, error)}`
  return { jsonrpc: '2.0', id, error: { code: CODE, message, data: MARK } }
}

/** Whether the error of a request stands for such an answer. */
export function isBadAnswer(error: unknown): error is ProtocolError {
  return error instanceof ProtocolError && error.data === MARK
}

/** How an answer begins that is no JSON: some servers write `NaN`, and some write logs into it. */
const START = /^\s*\{\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*(\d{1,15})\s*,\s*"(?:result|error)"/

function idInText(text: string): number | undefined {
  const [, id] = START.exec(text) ?? []
  return id === undefined ? undefined : Number(id)
}

function idOf(value: unknown): RequestId | undefined {
  if (!isRecord(value) || 'method' in value || !('result' in value || 'error' in value)) return undefined
  const { jsonrpc, id } = value
  return jsonrpc === '2.0' && (typeof id === 'string' || typeof id === 'number') ? id : undefined
}

/** What is wrong with an answer; the SDK's own check only tells that it is none of its kinds of message. */
function faultOf(value: unknown, error: unknown): string {
  if (!isRecord(value)) return messageOf(error)
  const { result, error: refusal } = value
  if (result !== undefined) return isRecord(result) ? messageOf(error) : 'its result is no object'
  if (!isRecord(refusal)) return 'its error is no object'
  if (!Number.isInteger(refusal['code'])) return 'the code of its error is no whole number'
  return typeof refusal['message'] === 'string' ? messageOf(error) : 'its error has no message'
}
