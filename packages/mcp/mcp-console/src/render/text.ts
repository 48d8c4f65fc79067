/** Untrusted text and JSON for a terminal: nothing in it can act on the terminal or hide. */
import { visibleLine } from '@deepseek-ai/dsh-mcp-text'

/** Longest message that is shown on one line, in characters. */
const MAX_MESSAGE_LENGTH = 2000

/** Characters that a terminal might act on or not show, outside of ASCII: JSON can escape every one of them. */
const HIDDEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu

function escapeUnits(characters: string): string {
  return Array.from(
    { length: characters.length },
    (_, index) => `\\u${characters.charCodeAt(index).toString(16).padStart(4, '0')}`,
  ).join('')
}

/**
 * JSON for a program or a terminal: lossless, indented, with everything invisible escaped.
 *
 * @param value - any JSON value; `undefined` fields are left out.
 */
export function jsonText(value: unknown): string {
  return JSON.stringify(value, undefined, 2).replace(HIDDEN, (character) =>
    character === '\n' ? character : escapeUnits(character),
  )
}

/**
 * What a thrown value says, on one line: the bullets of a refused configuration become a list with semicolons, and
 * an excerpt of a file is left out.
 *
 * @param error - anything that was thrown.
 */
export function errorLine(error: unknown): string {
  const message = error instanceof Error && error.message !== '' ? error.message : String(error)
  const lines = message.split(/\r?\n/)
  const excerpt = lines.findIndex((line) => /^\s*\d+ \| /.test(line))
  const [head = '', ...rest] = (excerpt > 0 ? lines.slice(0, excerpt) : lines)
    .map((line) => line.replace(/^\s*- /, '').trim())
    .filter((line) => line !== '' && line !== 'invalid config:')
  const separator = head.endsWith('invalid configuration') ? ': ' : '; '
  const line = rest.length === 0 ? head : `${head}${separator}${rest.join('; ')}`
  return visibleLine(line, MAX_MESSAGE_LENGTH)
}
