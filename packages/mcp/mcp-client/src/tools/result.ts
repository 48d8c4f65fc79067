/**
 * From what an upstream tool returned to the canonical value: the one check that every result passes, whether the
 * SDK received it or another provider made it.
 *
 * Invariants: a canonical value is complete and lossless JSON; nothing in it is altered but what JSON itself
 * cannot hold (`undefined` fields, negative zero); a block of a type that nobody knows is kept as it is.
 */
import { setImmediate } from 'node:timers/promises'
import type {
  AudioContent,
  EmbeddedResource,
  ImageContent,
  ResourceLink,
  TextContent,
} from '@modelcontextprotocol/client'

/** A block of a type that this version of the protocol does not have. */
export interface UnknownBlock {
  readonly type: string
  readonly annotations?: unknown
}

/** A content block that {@link readResult} has checked. */
export type KnownBlock = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource

/** Any content block. */
export type McpBlock = KnownBlock | UnknownBlock

/** The canonical value of a successful call: the protocol's result, complete. */
export interface McpResult {
  readonly content: readonly McpBlock[]
  readonly structuredContent?: unknown
}

/** Deepest nesting of a result. */
export const MAX_DEPTH = 1000

/** Nodes that are looked at before the event loop gets its turn. */
const NODES_PER_TURN = 5000

/** Thrown for what is not a tool result. The message is the violation, in terms of the result. */
export class InvalidResultError extends Error {
  override readonly name = 'InvalidResultError'
}

type Fields = Record<string, unknown>

/** The fields of a block that must be strings, by type (specification, server/tools, tool result). */
const REQUIRED_STRINGS: Readonly<Record<string, readonly string[]>> = {
  text: ['text'],
  image: ['data', 'mimeType'],
  audio: ['data', 'mimeType'],
  resource_link: ['uri', 'name'],
  resource: [],
}

/**
 * Check what an upstream tool returned and reduce it to the canonical value.
 *
 * @param raw - any value. An absent `content` is accepted where there is structured content or an error.
 * @throws {InvalidResultError} when it is not a tool result.
 */
export async function readResult(raw: unknown): Promise<{ result: McpResult; isError: boolean }> {
  if (!isRecord(raw)) throw new InvalidResultError('it is not an object')
  const { structuredContent, isError = false } = raw
  if (typeof isError !== 'boolean') throw new InvalidResultError('isError is neither true nor false')
  const content = raw['content'] ?? (structuredContent !== undefined || isError ? [] : undefined)
  if (!Array.isArray(content)) throw new InvalidResultError('content is not a list of blocks')
  const blocks: readonly unknown[] = content
  const written = { content: blocks, ...(structuredContent !== undefined && { structuredContent }) }
  const { content: checked, ...rest } = await losslessJson(written)
  checkContent(checked)
  return { result: { content: checked, ...rest }, isError }
}

/**
 * Check the content of a result, wherever it comes from.
 *
 * @throws {InvalidResultError} when it is no list of content blocks, or one of them lacks what its type requires.
 */
export function checkContent(content: unknown): asserts content is readonly McpBlock[] {
  if (!Array.isArray(content)) throw new InvalidResultError('content is not a list of blocks')
  for (const [index, block] of content.entries()) checkBlock(block, `content[${index}]`)
}

/** Whether a checked block is of a type that the protocol has. */
export function isKnownBlock(block: McpBlock): block is KnownBlock {
  return Object.hasOwn(REQUIRED_STRINGS, block.type)
}

function checkBlock(block: unknown, at: string): void {
  if (!isRecord(block) || typeof block['type'] !== 'string')
    throw new InvalidResultError(`${at} is not a content block`)
  if (!Object.hasOwn(REQUIRED_STRINGS, block['type'])) return
  for (const field of REQUIRED_STRINGS[block['type']]!) checkString(block, field, at)
  if (block['type'] !== 'resource') return
  const { resource } = block
  if (!isRecord(resource)) throw new InvalidResultError(`${at}.resource is not an object`)
  checkString(resource, 'uri', `${at}.resource`)
  checkString(resource, Object.hasOwn(resource, 'text') ? 'text' : 'blob', `${at}.resource`)
}

function checkString(fields: Fields, name: string, at: string): void {
  if (typeof fields[name] !== 'string') throw new InvalidResultError(`${at}.${name} is not a string`)
}

/** Whether a value is an object with named fields. */
export function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * The value itself when JSON holds it as it is, as everything that came over a wire; else its JSON form. The number
 * `-0`, which JSON can write but the host cannot hold, becomes `0` in place.
 *
 * @throws {InvalidResultError} when it cannot be written as JSON, or is nested more than {@link MAX_DEPTH} levels deep.
 */
export async function losslessJson<Value>(value: Value): Promise<Value> {
  return (await isLossless(value)) ? value : toJson(value)
}

function toJson<Value>(value: Value): Value {
  try {
    return JSON.parse(JSON.stringify(value, refuseNonFinite)) as Value
  } catch (error) {
    if (error instanceof InvalidResultError) throw error
    throw new InvalidResultError('it cannot be written as JSON', { cause: error })
  }
}

function refuseNonFinite(key: string, value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new InvalidResultError(`the number ${JSON.stringify(key)} is beyond what JSON can hold`)
  }
  return value
}

/** Whether JSON holds the value as it is. Goes through values of any size without holding up the event loop. */
async function isLossless(root: unknown): Promise<boolean> {
  const pending = [{ value: root, depth: 0 }]
  let nodes = 0
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { value, depth } = next
    if (++nodes % NODES_PER_TURN === 0) await setImmediate()
    if (typeof value === 'object' && value !== null) {
      // A cycle gets here too: depth comes before breadth.
      if (depth === MAX_DEPTH) throw new InvalidResultError(`it is nested more than ${MAX_DEPTH} levels deep`)
      if (!isPlain(value)) return false
      for (const key of keysOf(value)) {
        const item = (value as Record<string | number, unknown>)[key]
        if (Object.is(item, -0) && !Reflect.set(value, key, 0)) return false
        pending.push({ value: item, depth: depth + 1 })
      }
    } else if (typeof value === 'number') {
      if (!Number.isFinite(value)) return false
    } else if (typeof value !== 'string' && typeof value !== 'boolean' && value !== null) {
      return false
    }
  }
  return true
}

/** Whether an object is nothing but its fields, or a list nothing but its items. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  const isOrdinary = prototype === (Array.isArray(value) ? Array.prototype : Object.prototype)
  return isOrdinary && Object.getOwnPropertySymbols(value).length === 0
}

/** The items of a list that are not there are among them, because the value of each is no JSON. */
function keysOf(value: object): Iterable<string | number> {
  return Array.isArray(value) ? value.keys() : Object.keys(value)
}
