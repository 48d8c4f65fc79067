/**
 * Text as a model or a terminal may see it, with everything that could hide or act shown as an escape.
 *
 * Invariants:
 * - All three forms give the same text. They take linear time, and clean text is returned without a copy.
 * - `visibleText(visibleText(text)) === visibleText(text)`.
 */
import { setImmediate } from 'node:timers/promises'
import { CONTEXT, escapeCodePoint, PLAIN, UNSAFE } from './unsafe.ts'

/**
 * UTF-16 units handled in one piece, when the caller names no number. The worst text (nothing but joiners)
 * takes about 0.5 µs a unit on a slow machine, so that one piece stays well under 10 ms.
 */
export const DEFAULT_CHUNK = 8192

export interface VisibleTextOptions {
  /** UTF-16 units of the source handled without a pause; at least 1, default {@link DEFAULT_CHUNK}. */
  chunk?: number
}

/**
 * Shows untrusted text safely: `\n`, `\t` and `\r\n` stay; every other control character (ESC included, so
 * terminal sequences lose their effect), bidirectional control, zero-width or otherwise invisible character,
 * tag, lone surrogate and noncharacter becomes the literal text `\u{hex}`.
 *
 * Invisible characters stay where they are part of correct writing: ZWJ inside an emoji sequence, ZWJ and
 * ZWNJ inside words of scripts that spell with them, one presentation selector (U+FE0E, U+FE0F) after a
 * character that has two forms. A run of them is never correct writing, so no run survives.
 *
 * @param text - text from anywhere, of any length; one synchronous pass. See {@link visibleTextAsync}.
 * @returns the same string when nothing had to change.
 */
export function visibleText(text: string): string {
  return PLAIN.test(text) ? text : text.replace(UNSAFE, escapeCodePoint)
}

/**
 * {@link visibleText} in pieces, for a consumer that writes them out or pauses between them.
 *
 * @param text - the whole source text.
 * @param options - `chunk`: how much source one piece covers, give or take one unit.
 * @yields consecutive pieces; joined, they equal `visibleText(text)`. No piece ends inside a surrogate pair.
 */
export function* visibleTextPieces(text: string, options: VisibleTextOptions = {}): Generator<string, void> {
  for (const [start, end] of ranges(text, options)) yield visibleRange(text, start, end)
}

/**
 * {@link visibleText} that lets the event loop run between pieces, for text of many megabytes.
 *
 * @param text - the whole source text.
 * @param options - `chunk`: how much source is handled without a pause.
 * @returns the same string when nothing had to change.
 */
export async function visibleTextAsync(text: string, options: VisibleTextOptions = {}): Promise<string> {
  let shown = ''
  let changed = false
  for (const [start, end] of ranges(text, options)) {
    if (start > 0) await setImmediate()
    const piece = visibleRange(text, start, end)
    changed ||= piece !== text.slice(start, end)
    // V8 keeps the growing text as a rope: nothing is copied until somebody reads it.
    shown += piece
  }
  return changed ? shown : text
}

/** Cuts a text into ranges of about `chunk` units, none of which ends inside a surrogate pair. */
function* ranges(
  text: string,
  options: VisibleTextOptions,
): Generator<readonly [start: number, end: number], void> {
  const chunk = Math.max(1, options.chunk ?? DEFAULT_CHUNK)
  for (let start = 0, end; start < text.length; start = end) {
    end = Math.min(text.length, start + chunk)
    if (isHighSurrogate(text, end - 1) && isLowSurrogate(text, end)) end += 1
    yield [start, end]
  }
}

/** The visible form of `text.slice(start, end)` as part of the whole text. */
function visibleRange(text: string, start: number, end: number): string {
  const before = Math.min(CONTEXT, start)
  const after = Math.min(CONTEXT, text.length - end)
  const last = before + end - start
  const source = text.slice(start - before, end + after)
  if (PLAIN.test(source)) return source.slice(before, last)
  const shown = source.replace(UNSAFE, (character: string, at: number) =>
    at < before || at >= last ? character : escapeCodePoint(character),
  )
  return shown.slice(before, shown.length - after)
}

function isHighSurrogate(text: string, index: number): boolean {
  return (text.charCodeAt(index) & 0xfc00) === 0xd800
}

function isLowSurrogate(text: string, index: number): boolean {
  return (text.charCodeAt(index) & 0xfc00) === 0xdc00
}
