/**
 * What stands for each content block in what a model reads.
 *
 * Invariants: pure and deterministic; what the server says about a block is cut to one bounded line; no payload of
 * a binary block is ever in a text; a block that cannot be shown is described, never left out in silence, unless
 * it is addressed to somebody else.
 */
import { visibleLine } from '@deepseek-ai/dsh-mcp-text'
import type { EmbeddedResource, ImageContent, ResourceLink } from '@modelcontextprotocol/client'
import { decodedBytes } from './base64.ts'
import { isKnownBlock, isRecord, type McpBlock } from './result.ts'

/** Longest name or title, media type (RFC 6838 allows 255), and URI that is repeated, in characters. */
const MAX_NAME = 200
const MAX_TYPE = 255
const MAX_URI = 2000

/** A part of the projection: server's text yet to be escaped, or an image to be shown or described. */
export type Part =
  { readonly kind: 'text'; readonly text: string } | { readonly kind: 'image'; readonly image: ImageContent }

/**
 * Whether a block is for the model: it names no audience, or the assistant among it (specification,
 * server/resources, annotations).
 */
export function isForAssistant(block: McpBlock): boolean {
  const { annotations } = block
  const audience = isRecord(annotations) ? annotations['audience'] : undefined
  return !Array.isArray(audience) || audience.length === 0 || audience.includes('assistant')
}

/** The part that stands for a block. */
export function partOf(block: McpBlock): Part {
  if (!isKnownBlock(block)) {
    return text(
      `[content of the unknown type ${JSON.stringify(visibleLine(block.type, MAX_NAME))}, not shown]`,
    )
  }
  switch (block.type) {
    case 'text':
      return text(block.text)
    case 'image':
      return { kind: 'image', image: block }
    case 'audio':
      return text(`[audio not shown: ${describeData(block.mimeType, block.data)}]`)
    case 'resource_link':
      return text(describeLink(block))
    case 'resource':
      return text(describeResource(block))
  }
}

/** The line that stands for an image. Without a reason, the image itself is expected to follow by other means. */
export function describeImage(image: ImageContent, refusal?: string): string {
  const what = describeData(image.mimeType, image.data)
  return refusal === undefined ? `[image: ${what}]` : `[image not shown: ${what}; ${refusal}]`
}

function text(written: string): Part {
  return { kind: 'text', text: written }
}

function describeData(type: string | undefined, data: string): string {
  return `${type === undefined ? 'unknown type' : visibleLine(type, MAX_TYPE)}, ${decodedBytes(data)} bytes`
}

function describeLink({ name, title, uri, mimeType, size }: ResourceLink): string {
  const shown = visibleLine(name, MAX_NAME)
  const called = typeof title === 'string' ? `${visibleLine(title, MAX_NAME)} (${shown})` : shown
  const details = [
    ...(typeof mimeType === 'string' ? [visibleLine(mimeType, MAX_TYPE)] : []),
    ...(typeof size === 'number' ? [`${size} bytes`] : []),
  ]
  return `[resource link] ${called}: ${visibleLine(uri, MAX_URI)}${details.length === 0 ? '' : ` (${details.join(', ')})`}`
}

function describeResource({ resource }: EmbeddedResource): string {
  const uri = visibleLine(resource.uri, MAX_URI)
  const type = typeof resource.mimeType === 'string' ? resource.mimeType : undefined
  if (!('text' in resource)) return `[resource ${uri} not shown: ${describeData(type, resource.blob)}]`
  return `[resource ${uri}${type === undefined ? '' : ` (${visibleLine(type, MAX_TYPE)})`}]\n${resource.text}`
}
