/**
 * The text a model reads for a resource result. The canonical value stays the server's JSON; this owns the
 * shape of the text only.
 *
 * Invariants: the same value gives the same text; a large string of the value is neither serialised nor
 * copied here, a blob is not even read.
 */
import type { JsonValue } from '@deepseek-ai/dsh-tools'
import { visibleLine, visibleText, visibleTextAsync } from '@deepseek-ai/dsh-mcp-text'

/** Longest media type repeated in a description; RFC 6838 allows 127 + 1 + 127 characters. */
const MAX_TYPE_LENGTH = 255

/**
 * The text of one result: a line that names the server, the JSON of the result in which each content's `text`
 * and base64 `blob` is replaced by a description, then every text as it is.
 *
 * @param server - the name the result is attributed to.
 * @param value - the provider's JSON, whatever its shape.
 */
export function resultText(server: string, value: JsonValue): string {
  return pieces(server, value).map(visibleText).join('')
}

/** {@link resultText} for a value of any size: lets the event loop run in between. */
export async function resultTextAsync(server: string, value: JsonValue): Promise<string> {
  let text = ''
  for (const piece of pieces(server, value)) text += await visibleTextAsync(piece)
  return text
}

/** The text before escaping, cut so that a server's text is a piece of its own. */
function pieces(server: string, value: JsonValue): string[] {
  const texts: string[] = []
  let shown = value
  if (isRecord(value) && Array.isArray(value['contents'])) {
    const contents = value['contents'].map((content, index) => {
      if (!isRecord(content)) return content
      const described = { ...content }
      const { uri, mimeType, text, blob } = content
      if (typeof text === 'string') {
        described['text'] = `[${text.length} characters, below]`
        texts.push(
          `\n\n[content ${index + 1}: ${typeof uri === 'string' ? visibleLine(uri) : 'no URI'}]\n`,
          text,
        )
      }
      if (typeof blob === 'string') described['blob'] = describeBlob(blob, mimeType)
      return described
    })
    shown = { ...value, contents }
  }
  return [`MCP server: ${server}\n${JSON.stringify(shown, undefined, 2)}`, ...texts]
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
