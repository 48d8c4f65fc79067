/**
 * The text a model reads for a resource result. The canonical value stays the server's JSON; this owns the
 * shape of the text only.
 *
 * Invariants: the same value gives the same text; a large string of the value is neither serialised nor
 * copied here, a blob is not even read; the text grows with the value and not with its nesting.
 */
import { setImmediate } from 'node:timers/promises'
import type { JsonValue } from '@deepseek-ai/dsh-tools'
import { DEFAULT_CHUNK, visibleLine, visibleText, visibleTextAsync } from '@deepseek-ai/dsh-mcp-text'

/** Longest media type repeated in a description; RFC 6838 allows 127 + 1 + 127 characters. */
const MAX_TYPE_LENGTH = 255

/** A piece of a result's text before and after {@link visibleText}. */
export interface ShownPiece {
  raw: string
  shown: string
}

/**
 * Does the expensive part of {@link resultText} ahead, letting the event loop run in between.
 *
 * @returns what `resultText` takes as `ahead`.
 */
export async function showPieces(server: string, value: JsonValue): Promise<readonly ShownPiece[]> {
  const shown: ShownPiece[] = []
  let unpaused = 0
  for (const raw of pieces(server, value)) {
    // A long text is looked at in turns; many short ones have to be, too.
    unpaused += raw.length
    if (unpaused > DEFAULT_CHUNK) {
      unpaused = 0
      await setImmediate()
    }
    shown.push({ raw, shown: await visibleTextAsync(raw) })
  }
  return shown
}

/**
 * The text of one result: a line that names the server, the JSON of the result in which each content's `text`
 * and base64 `blob` is replaced by a description, then every text as it is.
 *
 * @param server - the name the result is attributed to.
 * @param value - the provider's JSON, whatever its shape.
 * @param ahead - pieces made before, of this value or of another one; those that fit are used.
 */
export function resultText(server: string, value: JsonValue, ahead: readonly ShownPiece[] = []): string {
  let text = ''
  for (const [index, raw] of pieces(server, value).entries()) {
    const ready = ahead[index]
    text += ready?.raw === raw ? ready.shown : visibleText(raw)
  }
  return text
}

/** The text before escaping, cut so that a server's text is a piece of its own. */
function pieces(server: string, value: JsonValue): string[] {
  const texts: string[] = []
  let described = value
  if (isRecord(value) && Array.isArray(value['contents'])) {
    const contents = value['contents'].map((content, index) => {
      if (!isRecord(content)) return content
      const { uri, mimeType, text, blob } = content
      if (typeof text === 'string') {
        const title = typeof uri === 'string' ? visibleLine(uri) : 'no URI'
        texts.push(`\n\n[content ${index + 1}: ${title}]\n`, text)
      }
      return {
        ...content,
        ...(typeof text === 'string' && { text: `[${text.length} characters, below]` }),
        ...(typeof blob === 'string' && { blob: describeBlob(blob, mimeType) }),
      }
    })
    described = { ...value, contents }
  }
  return [`MCP server: ${server}\n${toJson(described)}`, ...texts]
}

/** JSON with a line for each field, and for each item of a list: to read, to search and to cut. */
function toJson(value: JsonValue): string {
  if (!isRecord(value)) return JSON.stringify(value)
  const fields = Object.entries(value).map(([name, field]) => {
    const items = Array.isArray(field) ? field.map((item) => `\n    ${JSON.stringify(item)}`) : []
    return `\n  ${JSON.stringify(name)}: ${items.length > 0 ? `[${items.join(',')}\n  ]` : JSON.stringify(field)}`
  })
  return `{${fields.join(',')}\n}`
}

/** Type and decoded size of base64 data, from its length alone. */
function describeBlob(base64: string, mimeType: JsonValue | undefined): string {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0
  const bytes = Math.floor(((base64.length - padding) * 3) / 4)
  const type = typeof mimeType === 'string' ? mimeType.slice(0, MAX_TYPE_LENGTH) : 'unknown type'
  return `[${type}, ${bytes} bytes of binary data, not shown]`
}

function isRecord(value: JsonValue | undefined): value is { [key: string]: JsonValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
