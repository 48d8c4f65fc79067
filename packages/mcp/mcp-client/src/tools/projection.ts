/**
 * What a model reads of a tool's result: one piece of text for each block, in order.
 *
 * Invariants: pure and deterministic; nothing the server sent is silently left out, a block that cannot be shown
 * is described; no payload of a binary block is ever in the text. The text is the server's own: whoever shows it
 * escapes it.
 */
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client'

/** The canonical value of a successful call: the protocol's result, complete. */
export interface McpResult {
  readonly content: readonly ContentBlock[]
  readonly structuredContent?: unknown
}

/** Reduce a raw result to its canonical value. */
export function canonicalResult(raw: Pick<CallToolResult, 'structuredContent'> & { content?: readonly ContentBlock[] | undefined }): McpResult {
  return {
    content: raw.content ?? [],
    ...(raw.structuredContent !== undefined && { structuredContent: raw.structuredContent }),
  }
}

/** Bytes that a base64 text stands for, without decoding it. */
function decodedBytes(base64: string): number {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0
  return Math.max(0, Math.floor((base64.length * 3) / 4) - padding)
}

function details(...parts: (string | undefined)[]): string {
  const given = parts.filter((part) => part !== undefined)
  return given.length === 0 ? '' : ` (${given.join(', ')})`
}

function describeLink(block: Extract<ContentBlock, { type: 'resource_link' }>): string {
  const title = block.title === undefined ? block.name : `${block.title} (${block.name})`
  const size = block.size === undefined ? undefined : `${block.size} bytes`
  return `[resource link] ${title}: ${block.uri}${details(block.mimeType, size)}`
}

/** The text that stands for one block. */
function describeBlock(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return block.text
    case 'image':
    case 'audio':
      return `[${block.type} not shown${details(block.mimeType, `${decodedBytes(block.data)} bytes`)}]`
    case 'resource_link':
      return describeLink(block)
    case 'resource': {
      const { resource } = block
      if ('text' in resource) return `[resource ${resource.uri}${details(resource.mimeType)}]\n${resource.text}`
      return `[resource ${resource.uri} not shown${details(resource.mimeType, `${decodedBytes(resource.blob)} bytes`)}]`
    }
    default:
      return `[content of the unknown type ${JSON.stringify((block as { type?: unknown }).type)} not shown]`
  }
}

/** The text of a result, blocks joined by line breaks. */
export function projectText(result: McpResult): string {
  if (result.content.length === 0) return 'The tool returned no content.'
  return result.content.map(describeBlock).join('\n')
}
