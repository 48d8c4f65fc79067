/**
 * What a model reads of a tool's result: one projection of the canonical value, in the order of its blocks.
 *
 * Invariants: deterministic; every text is escaped here, whoever wrote it; adjacent texts are one block, joined by
 * line breaks, because the model's API joins blocks without any; the form that is made at once and the one that is
 * made in turns are the same text.
 */
import { setImmediate } from 'node:timers/promises'
import type { ContentBlock } from '@deepseek-ai/dsh-llm'
import { DEFAULT_CHUNK, visibleText, visibleTextAsync } from '@deepseek-ai/dsh-mcp-text'
import type { ImageContent, TextContent } from '@modelcontextprotocol/client'
import { describeImage, isForAssistant, partOf, type Part } from './blocks.ts'
import type { ImageOutcome } from './images.ts'
import { jsonText, jsonTextNow } from './json-text.ts'
import type { McpResult } from './result.ts'

/** What is said where there is nothing to show. */
export interface Silence {
  /** The result is empty. */
  readonly empty: string
  /** Everything in it is addressed to somebody else. */
  readonly notForAssistant: string
}

const SILENT_SUCCESS: Silence = {
  empty: 'The tool returned no content.',
  notForAssistant: 'The tool returned content for the user only; there is nothing in it for you.',
}

/** What a brief result has at most: blocks, and characters in each. */
const BRIEF_BLOCKS = 16
const BRIEF_LENGTH = 2048

type TextBlock = ContentBlock & { type: 'text' }

/** A result in both forms that it can stand in a conversation. */
export interface Projection {
  /** One text, in which each image is a line. */
  readonly text: [TextBlock]
  /** Text and the images that the store took, in order; `undefined` when the result has no image. */
  readonly native: ContentBlock[] | undefined
}

/** The images of a result that are for the model, in order. */
export function imagesOf(result: McpResult): readonly ImageContent[] {
  return result.content.filter(
    (block): block is ImageContent => block.type === 'image' && isForAssistant(block),
  )
}

/**
 * Project a result of any size, without holding up the event loop.
 *
 * @param outcomes - what became of each of {@link imagesOf}.
 * @param silence - what to say where there is nothing to show; that a tool succeeded, by default.
 */
export async function project(
  result: McpResult,
  outcomes: readonly ImageOutcome[],
  silence: Silence = SILENT_SUCCESS,
): Promise<Projection> {
  const lines: string[] = []
  const native: ContentBlock[] = []
  let shown = 0
  let images = 0
  let unpaused = 0
  const showLines = () => {
    if (lines.length > shown) native.push(textBlock(lines.slice(shown)))
    shown = lines.length
  }
  for (const part of draft(result, silence)) {
    if (part.kind !== 'image') {
      const text = part.kind === 'json' ? await jsonText(part.value) : part.text
      // A long text is looked at in turns; many short ones, and descriptions, have to be, too.
      unpaused += text.length
      if (unpaused > DEFAULT_CHUNK) {
        unpaused = 0
        await setImmediate()
      }
      lines.push(await visibleTextAsync(text))
      continue
    }
    const outcome = outcomes[images++]!
    if ('refusal' in outcome) {
      lines.push(describeImage(part.image, outcome.refusal))
      continue
    }
    showLines()
    native.push({ type: 'image', attachment: outcome.ref })
    lines.push(describeImage(part.image))
    shown = lines.length
  }
  showLines()
  return { text: [textBlock(lines)], native: images > 0 ? native : undefined }
}

/** Whether a result is nothing but a little text, as most are: {@link projectNow} is then all that it takes. */
export function isBrief({ content, structuredContent }: McpResult): boolean {
  return (
    structuredContent === undefined &&
    content.length <= BRIEF_BLOCKS &&
    content.every((block) => block.type === 'text' && (block as TextContent).text.length <= BRIEF_LENGTH)
  )
}

/** Project a result at once, each image as a line without a reason: for a value that came about after the call. */
export function projectNow(result: McpResult): [TextBlock] {
  const lines = Array.from(draft(result, SILENT_SUCCESS), (part) => {
    if (part.kind === 'image') return describeImage(part.image)
    return visibleText(part.kind === 'json' ? jsonTextNow(part.value) : part.text)
  })
  return [textBlock(lines)]
}

/** What is to be shown, not yet escaped: each part when it is asked for, because describing a block takes its time. */
function* draft(
  { content, structuredContent }: McpResult,
  silence: Silence,
): Generator<Part | { kind: 'json'; value: unknown }, void> {
  const shown = content.filter(isForAssistant)
  const hasText = shown.some((block) => block.type === 'text' && (block as TextContent).text.trim() !== '')
  for (const block of shown) yield partOf(block)
  if (structuredContent !== undefined && !hasText) yield { kind: 'json', value: structuredContent }
  else if (shown.length === 0)
    yield { kind: 'text', text: content.length === 0 ? silence.empty : silence.notForAssistant }
}

/** One text block of several lines. The text is added up, not joined: a large one is not copied for it. */
function textBlock(lines: readonly string[]): TextBlock {
  return { type: 'text', text: lines.reduce((text, line) => `${text}\n${line}`) }
}
