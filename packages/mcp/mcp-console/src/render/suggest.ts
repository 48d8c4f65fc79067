/** "Did you mean": the names that a mistyped one most likely stands for. */
import { distance } from 'fastest-levenshtein'

/** At most so many names are suggested. */
const MAX_SUGGESTIONS = 3

/** A name is close when less than this share of its characters differs. */
const MAX_DIFFERENCE = 0.4

/**
 * The names that come closest to a mistyped one; none when nothing is close.
 *
 * @param word - what was typed.
 * @param names - what there is.
 */
export function suggest(word: string, names: Iterable<string>): string[] {
  const typed = word.toLowerCase()
  const rated = Array.from(new Set(names), (name) => ({
    name,
    difference: difference(typed, name.toLowerCase()),
  }))
  const best = Math.min(MAX_DIFFERENCE, ...rated.map((candidate) => candidate.difference))
  return rated
    .filter((candidate) => candidate.difference <= best && candidate.difference < MAX_DIFFERENCE)
    .map(({ name }) => name)
    .toSorted()
    .slice(0, MAX_SUGGESTIONS)
}

/** 0 for the same name, 1 for one that has nothing in common; a whole last part counts as the same. */
function difference(typed: string, name: string): number {
  if (typed !== '' && name.endsWith(`__${typed}`)) return 0
  return distance(typed, name) / Math.max(typed.length, name.length, 1)
}

/** ` (did you mean a or b?)`, or nothing. */
export function didYouMean(word: string, names: Iterable<string>): string {
  const close = suggest(word, names)
  return close.length === 0 ? '' : ` (did you mean ${close.join(' or ')}?)`
}
