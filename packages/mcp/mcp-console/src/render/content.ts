/** What a model reads of a call, for a person. */
import { visibleLine, visibleText } from '@deepseek-ai/dsh-mcp-text'
import type { ToolExecutionResult } from '@deepseek-ai/dsh-tools'

/** One block of what a model reads. */
export type ModelBlock = ToolExecutionResult['content'][number]

/** A number of bytes in words. */
export function byteCount(bytes: number): string {
  return bytes === 1 ? '1 byte' : `${bytes.toLocaleString('en-US')} bytes`
}

/** The blocks in order; in the place of an image stands what is known of it. */
export function renderContent(content: readonly ModelBlock[]): string {
  return content.map(renderBlock).join('\n')
}

function renderBlock(block: ModelBlock): string {
  if (block.type === 'text') return visibleText(block.text)
  if (block.type !== 'image') return `[${block.type}]`
  const { mediaType, width, height, bytes } = block.attachment
  return `[image: ${visibleLine(mediaType, 60)}, ${width} × ${height} pixels, ${byteCount(bytes)}]`
}
