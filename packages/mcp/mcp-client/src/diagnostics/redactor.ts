/**
 * Keeps the secrets of one entry out of what is logged, thrown or shown.
 *
 * Invariants: everything that may hold a server's or a transport's own words passes {@link Redactor.redact} before
 * it is cut, and before it leaves the package; a secret is found as it is, and as JSON, a URL or Base64 spell it.
 */
import { visibleLine } from '@deepseek-ai/dsh-mcp-text'
import type { ResolvedEndpoint } from '../config/resolve.ts'
import { secretsOf } from './secrets.ts'

/** A longer secret is looked for as it is: a pattern can be too large to be one. */
const MAX_IN_PATTERN = 1024

/** A shorter piece of Base64 could be a piece of anything. */
const MIN_BASE64_LENGTH = 6

/** Backslashes before a character, where JSON is in JSON. Bounded, so that no text keeps the pattern busy. */
const ESCAPES = String.raw`\\{1,4}`

/** Replaces the configured secrets of an entry by their names. */
export class Redactor {
  /** Longest first, so that one which contains another is found as a whole. */
  readonly #labels: readonly string[]
  readonly #pattern: RegExp | undefined
  readonly #long: readonly (readonly [text: string, label: string])[]

  constructor(endpoint: ResolvedEndpoint) {
    const secrets = [...secretsOf(endpoint)].toSorted(([a], [b]) => b.length - a.length)
    const isLong = ([text]: readonly [string, string]) => text.length > MAX_IN_PATTERN
    this.#long = secrets
      .filter(isLong)
      .flatMap(([text, label]) =>
        [text, JSON.stringify(text).slice(1, -1)].map((form) => [form, label] as const),
      )
    const short = secrets.filter((secret) => !isLong(secret))
    this.#labels = short.map(([, label]) => label)
    if (short.length > 0)
      this.#pattern = new RegExp(short.map(([text]) => `(${spellings(text)})`).join('|'), 'g')
  }

  /** A server's words on one safe line: without secrets, and only then cut. */
  line(words: string, maxLength: number): string {
    return visibleLine(this.redact(words), maxLength)
  }

  /** The text with each secret replaced by `[redacted <its field>]`; the same string when there is none. */
  redact(text: string): string {
    const rest = this.#long.reduce((left, [form, label]) => left.replaceAll(form, () => shown(label)), text)
    if (this.#pattern === undefined) return rest
    return rest.replace(this.#pattern, (_, ...groups: unknown[]) => {
      const index = groups.findIndex((group) => group !== undefined)
      return shown(this.#labels[index]!)
    })
  }
}

function shown(label: string): string {
  return `[redacted ${label}]`
}

/** A pattern for everything that stands for a text. */
function spellings(text: string): string {
  const base64 = base64Pieces(text).filter((piece) => piece.length >= MIN_BASE64_LENGTH)
  return [spelling(text), ...base64.map(base64Spelling)].join('|')
}

/** A text as it is, in a URL, and in JSON however much of it the writer escapes. */
function spelling(text: string): string {
  return text.replaceAll(/\\+|[^]/gu, (character) => {
    if (/^[\w.~-]$/.test(character)) return escapePattern(character)
    if (character.startsWith('\\')) return String.raw`(?:\\{1,8}(?:u005[Cc])?|(?:%5[Cc])+)`
    const units = Array.from({ length: character.length }, (_, index) =>
      character.charCodeAt(index).toString(16).padStart(4, '0'),
    )
    const bytes = Buffer.from(character).toString('hex').match(/../g)!
    const forms = [
      `(?:${ESCAPES})?${escapePattern(character)}`,
      units.map((unit) => `${ESCAPES}u${anyCase(unit)}`).join(''),
      bytes.map((byte) => `%${anyCase(byte)}`).join(''),
      ...(character === ' ' ? [String.raw`\+`] : []),
    ]
    return `(?:${forms.join('|')})`
  })
}

/** Base64 in either alphabet. */
function base64Spelling(piece: string): string {
  return piece.replaceAll('+', '[+-]').replaceAll('/', String.raw`(?:\\{0,4}/|_)`)
}

/**
 * What is always the same in the Base64 of a text that a value is part of: three forms, for the three places at
 * which it can begin, without the characters at either end that also hold bits of what is around it.
 */
function base64Pieces(value: string): string[] {
  return [0, 1, 2].map((offset) => {
    const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(value)])
    return bytes.toString('base64').slice(Math.ceil((offset * 4) / 3), Math.floor((bytes.length * 4) / 3))
  })
}

function anyCase(hex: string): string {
  return hex.replaceAll(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`)
}

// `RegExp.escape` needs Node 24; the package runs on Node 22.
function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)
}
