/**
 * Undoes how JSON, URLs and forms spell characters, so that a text is found however it was written.
 *
 * Invariants: two spellings of a text have the same {@link Canonical.text}, and a piece of it still has its place in
 * the source; linear in the length of the source, whatever is in it.
 */

/** Bytes in a URL, however often that was put into a URL again. */
const BYTES = /(?:%(?:25)*[\da-f]{2})+/gi

/** Escapes of JSON, likewise, and what has another form in JSON or in a form. */
const ESCAPES = /\\+(?:u[\da-f]{4})?|[+\n\r\t\b\f]/gi

/** What stands for a character that is spelled in several ways: JSON's letter, a form's space, no backslash. */
const CANONICAL: Readonly<Record<string, string>> = {
  '\\': '',
  '+': ' ',
  '\n': 'n',
  '\r': 'r',
  '\t': 't',
  '\b': 'b',
  '\f': 'f',
}

/** A text in its canonical spelling. */
export interface Canonical {
  readonly text: string
  /** Where a piece of the canonical text, which is not empty, stands in the source. */
  locate(start: number, end: number): { readonly start: number; readonly end: number }
}

/** @param source - any text. */
export function canonical(source: string): Canonical {
  const decoded = replaced(source, BYTES, charactersOf)
  const unescaped = replaced(decoded.text, ESCAPES, unescape)
  return {
    text: unescaped.text,
    locate: (start, end) => {
      const place = unescaped.locate(start, end)
      return decoded.locate(place.start, place.end)
    },
  }
}

function replaced(source: string, pattern: RegExp, replace: (found: string) => string): Canonical {
  if (source.search(pattern) === -1) return { text: source, locate: (start, end) => ({ start, end }) }
  const starts: number[] = []
  const ends: number[] = []
  let text = ''
  let passed = 0
  const pass = (end: number) => {
    text += source.slice(passed, end)
    for (; passed < end; passed++) {
      starts.push(passed)
      ends.push(passed + 1)
    }
  }
  for (const { 0: found, index } of source.matchAll(pattern)) {
    pass(index)
    passed += found.length
    const characters = replace(found)
    text += characters
    for (let unit = 0; unit < characters.length; unit++) {
      starts.push(index)
      ends.push(passed)
    }
  }
  pass(source.length)
  return { text, locate: (start, end) => ({ start: starts[start]!, end: ends[end - 1]! }) }
}

function charactersOf(bytes: string): string {
  const digits = bytes.match(/%(?:25)*[\da-f]{2}/gi)!.map((byte) => byte.slice(-2))
  return Buffer.from(digits.join(''), 'hex').toString()
}

function unescape(escape: string): string {
  const [, unit] = /u([\da-f]{4})$/i.exec(escape) ?? []
  const character = unit === undefined ? escape[0]! : String.fromCharCode(Number.parseInt(unit, 16))
  return CANONICAL[character] ?? character
}
