/**
 * Carries the content of a tool's result past the SDK, which gets an empty list in its place.
 *
 * The SDK would refuse a whole result for one block of a type it does not know, decode every base64 payload in one
 * go only to see that it can, and print a late response into an error, payload and all (decision 0010). What it
 * checks of the rest of a result, it still checks; the content is checked by `readResult`, like everybody's.
 *
 * Invariant: what is held can be read only by {@link releaseContent}; it is not part of any JSON.
 */
import type { CallToolResult, JSONRPCMessage } from '@modelcontextprotocol/client'
import { isRecord } from './result.ts'

/** The field of a result's `_meta` that leads to its content, on the way through the SDK. */
const FIELD = 'dsh-mcp-client/content'

/** What is on its way, by the object that stands in that field. */
const held = new WeakMap<object, readonly unknown[]>()

/** A tool's result as the server sent it. */
export type RawToolResult = Omit<CallToolResult, 'content'> & { readonly content: readonly unknown[] }

/**
 * Take the content out of a message, before the SDK sees it; every other message stays as it is. The message is
 * changed, the server's result is not.
 */
export function holdContent(message: JSONRPCMessage): void {
  if (!('result' in message)) return
  const { content, _meta: meta } = message.result as { content?: unknown; _meta?: unknown }
  // Only the result of tools/call has a list of this name. A `_meta` that is no object is for the SDK to refuse.
  if (!Array.isArray(content) || (meta !== undefined && !isRecord(meta))) return
  const ticket = {}
  held.set(ticket, content)
  message.result = { ...message.result, content: [], _meta: { ...meta, [FIELD]: ticket } }
}

/** Put the content back, when the SDK is done with a result. */
export function releaseContent(result: CallToolResult): RawToolResult {
  const { [FIELD]: ticket, ...meta } = result._meta ?? {}
  return { ...result, _meta: meta, content: (isRecord(ticket) && held.get(ticket)) || result.content }
}
