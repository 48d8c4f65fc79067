/**
 * JSON as a person reads it, of any size and nesting.
 *
 * Invariants: both forms are the same text; it grows with the value alone, because only the outer levels are
 * indented.
 */
import { setImmediate } from 'node:timers/promises'

/** Levels that have a line for each item; what is deeper is written on one line. */
export const INDENTED_LEVELS = 8

/** Characters that are written before the event loop gets its turn. */
const CHARACTERS_PER_TURN = 65_536

/** A list or an object that is being written. */
interface Level {
  /** The names of its items, `undefined` for a list. */
  readonly names: readonly string[] | undefined
  readonly items: readonly unknown[]
  /** What stands before each item, and before the end. */
  readonly newline: string
  readonly lastNewline: string
  written: number
}

/**
 * The text in turns, without holding up the event loop: what `JSON.stringify(value, undefined, 2)` writes, but for
 * what is nested more than {@link INDENTED_LEVELS} deep.
 *
 * @param value - lossless JSON.
 */
export async function jsonText(value: unknown): Promise<string> {
  let text = ''
  let turn = ''
  for (const piece of jsonPieces(value)) {
    turn += piece
    if (turn.length < CHARACTERS_PER_TURN) continue
    text += turn
    turn = ''
    await setImmediate()
  }
  return text + turn
}

/** The same text as {@link jsonText}, at once. */
export function jsonTextNow(value: unknown): string {
  // Many times as fast.
  if (isWithin(value, INDENTED_LEVELS)) return JSON.stringify(value, undefined, 2)
  let text = ''
  for (const piece of jsonPieces(value)) text += piece
  return text
}

// Not recursive: a piece would be handed through every level above it.
function* jsonPieces(root: unknown): Generator<string, void> {
  const levels: Level[] = []
  for (let value = root; ;) {
    if (typeof value === 'string') yield* stringPieces(value)
    else if (typeof value !== 'object' || value === null) yield JSON.stringify(value)
    else {
      const level = levelOf(value, levels.length)
      levels.push(level)
      yield level.names === undefined ? '[' : '{'
    }
    let level = levels.at(-1)
    while (level !== undefined && level.written === level.items.length) {
      const close = level.names === undefined ? ']' : '}'
      yield level.written === 0 ? close : level.lastNewline + close
      levels.pop()
      level = levels.at(-1)
    }
    if (level === undefined) return
    const { names, items, newline, written } = level
    const separator = written === 0 ? newline : `,${newline}`
    const colon = newline === '' ? ':' : ': '
    yield names === undefined ? separator : separator + JSON.stringify(names[written]) + colon
    value = items[written]
    level.written += 1
  }
}

function levelOf(value: object, depth: number): Level {
  const isIndented = depth < INDENTED_LEVELS
  return {
    names: Array.isArray(value) ? undefined : Object.keys(value),
    items: Array.isArray(value) ? value : Object.values(value),
    newline: isIndented ? `\n${'  '.repeat(depth + 1)}` : '',
    lastNewline: isIndented ? `\n${'  '.repeat(depth)}` : '',
    written: 0,
  }
}

/** Whether a value is not nested deeper than so many levels. */
function isWithin(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  return levels > 0 && Object.values(value).every((item) => isWithin(item, levels - 1))
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
