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

/** What is on its way, by the object that stands in that field; `undefined` where the server sent none. */
const held = new WeakMap<object, readonly unknown[] | undefined>()

/** Fields that a result of `tools/call` does not have, and every other result that matters here has. */
const OTHER_RESULTS = [
  'protocolVersion',
  'supportedVersions',
  'tools',
  'resources',
  'resourceTemplates',
  'contents',
]

/** A tool's result as the server sent it. */
export type RawToolResult = Omit<CallToolResult, 'content'> & {
  readonly content: readonly unknown[] | undefined
}

/**
 * Take the content out of a message, before the SDK sees it; every other message stays as it is. The message is
 * changed, the server's result is not. That there is no content is carried along as well: the SDK would make up an
 * empty one, and so a success.
 */
export function holdContent(message: JSONRPCMessage): void {
  if (!('result' in message)) return
  const { result } = message
  const { content, _meta: meta } = result as { content?: unknown; _meta?: unknown }
  // A `_meta` that is no object is for the SDK to refuse, and so is content that is no list.
  if (meta !== undefined && !isRecord(meta)) return
  if (content === undefined ? OTHER_RESULTS.some((field) => field in result) : !Array.isArray(content)) return
  const ticket = {}
  held.set(ticket, content as readonly unknown[] | undefined)
  message.result = { ...result, content: [], _meta: { ...meta, [FIELD]: ticket } }
}

/**
 * Put the content back, when the SDK is done with a result. Where none was held there was none, whatever stands there
 * now: the SDK makes up an empty list for the result of another request as well.
 */
export function releaseContent(result: CallToolResult): RawToolResult {
  const { [FIELD]: ticket, ...meta } = result._meta ?? {}
  return { ...result, _meta: meta, content: isRecord(ticket) ? held.get(ticket) : undefined }
}
