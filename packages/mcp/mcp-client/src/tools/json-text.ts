/** JSON as a person reads it, of any size, without holding up the event loop. */
import { setImmediate } from 'node:timers/promises'

/** Characters that are written before the event loop gets its turn. */
const CHARACTERS_PER_TURN = 65_536

/**
 * `JSON.stringify(value, undefined, 2)`, in turns.
 *
 * @param value - lossless JSON.
 */
export async function jsonText(value: unknown): Promise<string> {
  let text = ''
  let turn = ''
  for (const piece of jsonPieces(value, '\n')) {
    turn += piece
    if (turn.length < CHARACTERS_PER_TURN) continue
    text += turn
    turn = ''
    await setImmediate()
  }
  return text + turn
}

function* jsonPieces(value: unknown, newline: string): Generator<string, void> {
  if (typeof value === 'string') return yield* stringPieces(value)
  if (typeof value !== 'object' || value === null) return yield JSON.stringify(value)
  const isArray = Array.isArray(value)
  const [open, close] = isArray ? (['[', ']'] as const) : (['{', '}'] as const)
  const inner = `${newline}  `
  let separator = open + inner
  for (const [key, item] of Object.entries(value)) {
    yield isArray ? separator : `${separator}${JSON.stringify(key)}: `
    yield* jsonPieces(item, inner)
    separator = `,${inner}`
  }
  // The separator was not used by a first item.
  yield separator.startsWith(',') ? newline + close : open + close
}

function* stringPieces(value: string): Generator<string, void> {
  yield '"'
  for (let start = 0, end; start < value.length; start = end) {
    end = start + CHARACTERS_PER_TURN
    // Half of a surrogate pair would be escaped.
    if (isHighSurrogate(value.charCodeAt(end - 1))) end += 1
    yield JSON.stringify(value.slice(start, end)).slice(1, -1)
  }
  yield '"'
}

function isHighSurrogate(unit: number): boolean {
  return (unit & 0xfc00) === 0xd800
}
