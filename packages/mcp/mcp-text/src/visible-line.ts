/** Bounded pieces of untrusted text, for status rows, log lines and error messages. */
import { escapeCodePoint, PLAIN, UNSAFE } from './unsafe.ts'
import { visibleText } from './visible-text.ts'

/** Length of a line in UTF-16 units when the caller names none. */
export const DEFAULT_LINE_LENGTH = 200

/** Length of an excerpt in UTF-16 units when the caller names none. */
export const DEFAULT_EXCERPT_LENGTH = 2000

/** One step through the source: what becomes an escape, a line break or tab, or one code point that stays. */
const STEP = new RegExp(`(?<unsafe>${UNSAFE.source})|(?<blank>\\r\\n|[\\n\\t])|.`, 'gsv')

/**
 * Shows untrusted text as one line: {@link visibleText}, with line breaks as `\n` and tabs as `\t`. A line
 * that would be longer than allowed is cut and ends in `… (+N characters)`, N being the UTF-16 units of the
 * source that are not shown. A cut never splits a surrogate pair, an escape, or an emoji from its joiner.
 *
 * @param text - text from anywhere; only as much as can be shown is looked at, whatever its length.
 * @param maxLength - longest result in UTF-16 units, default {@link DEFAULT_LINE_LENGTH}. When not even the
 *   full marker fits, the result is `…` (or nothing, for 0).
 */
export function visibleLine(text: string, maxLength: number = DEFAULT_LINE_LENGTH): string {
  return bounded(text, maxLength, (blank) => (blank === '\t' ? '\\t' : '\\n'))
}

/**
 * Shows the beginning of untrusted text like {@link visibleLine}, but keeps line breaks and tabs.
 *
 * @param text - text from anywhere; only as much as can be shown is looked at, whatever its length.
 * @param maxLength - longest result in UTF-16 units, default {@link DEFAULT_EXCERPT_LENGTH}.
 */
export function visibleExcerpt(text: string, maxLength: number = DEFAULT_EXCERPT_LENGTH): string {
  return bounded(text, maxLength, (blank) => blank)
}

function bounded(text: string, maxLength: number, showBlank: (blank: string) => string): string {
  const whole = text.length <= maxLength ? steps(text, showBlank) : undefined
  if (whole !== undefined) {
    const shown = shownOf(whole)
    if (shown.length <= maxLength) return shown
  }
  const room = maxLength - marker(text.length).length
  if (room < 0) return maxLength >= 1 ? '…' : ''

  const kept: Step[] = []
  let length = 0
  // A step is never shorter than its source, so the last units of this slice never fit.
  for (const step of whole ?? steps(text.slice(0, maxLength), showBlank)) {
    if (length + step.shown.length > room) break
    kept.push(step)
    length += step.shown.length
  }
  // A joiner at the cut has lost what it joins.
  while (visibleText(shownOf(kept)) !== shownOf(kept)) kept.pop()
  const missing = kept.reduce((left, step) => left - step.source.length, text.length)
  return shownOf(kept) + marker(missing)
}

interface Step {
  source: string
  shown: string
}

function steps(text: string, showBlank: (blank: string) => string): Step[] {
  if (PLAIN.test(text)) {
    return Array.from(text, (source) => ({ source, shown: source < ' ' ? showBlank(source) : source }))
  }
  return Array.from(text.matchAll(STEP), ({ 0: source, groups }) => {
    if (groups?.['unsafe'] !== undefined) return { source, shown: escapeCodePoint(source) }
    return { source, shown: groups?.['blank'] === undefined ? source : showBlank(source) }
  })
}

function shownOf(kept: readonly Step[]): string {
  return kept.map((step) => step.shown).join('')
}

function marker(missing: number): string {
  return `… (+${missing} characters)`
}
