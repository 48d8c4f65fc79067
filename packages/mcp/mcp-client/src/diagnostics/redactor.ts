/**
 * Keeps the secrets of one entry out of what is logged, thrown or shown.
 *
 * Invariants: everything that may hold a server's or a transport's own words passes a {@link Redactor} before it is
 * cut, and before it leaves the package; a secret is found as it is, and as JSON, a URL or Base64 spell it; of a long
 * text, no more is looked at than is shown.
 */
import { DEFAULT_EXCERPT_LENGTH, visibleExcerpt, visibleLine } from '@deepseek-ai/dsh-mcp-text'
import type { ResolvedEndpoint } from '../config/resolve.ts'
import { secretsOf } from './secrets.ts'
import { canonical } from './spelling.ts'

/** A shorter canonical form, or piece of Base64, could be a piece of anything. */
const MIN_FORM_LENGTH = 4
const MIN_BASE64_LENGTH = 6

/** Characters that one character of a secret takes at most, in any spelling that is common. */
const MAX_SPELLING = 12

/** A secret in a text. */
interface Hit {
  readonly start: number
  readonly end: number
  readonly label: string
}

/** What is looked for, and the label of what it stands for. */
type Forms = ReadonlyMap<string, string>

/** Replaces the configured secrets of an entry by their names. */
export class Redactor {
  readonly #secrets: Forms
  /** Looked for in the canonical spelling of a text. */
  readonly #forms: Forms
  /** Longest form of a secret in a text, in characters. */
  readonly #maxLength: number

  constructor(endpoint: ResolvedEndpoint) {
    this.#secrets = secretsOf(endpoint)
    const forms = new Map<string, string>()
    for (const [secret, label] of this.#secrets) {
      for (const form of formsOf(secret)) if (!forms.has(form)) forms.set(form, label)
    }
    this.#forms = forms
    const lengths = [...this.#secrets.keys(), ...forms.keys()].map((form) => form.length)
    this.#maxLength = MAX_SPELLING * lengths.reduce((longest, length) => Math.max(longest, length), 0)
  }

  /** A server's words on one safe line: without secrets, and only then cut. */
  line(words: string, maxLength: number): string {
    return visibleLine(this.#redactStart(words, maxLength), maxLength)
  }

  /** The beginning of a server's words, with their line breaks: without secrets, and only then cut. */
  excerpt(words: string, maxLength: number = DEFAULT_EXCERPT_LENGTH): string {
    return visibleExcerpt(this.#redactStart(words, maxLength), maxLength)
  }

  /** The text with each secret replaced by `[redacted <its field>]`; the same string when there is none. */
  redact(text: string): string {
    const { shown, end } = this.#replace(text, text.length)
    return shown + text.slice(end)
  }

  /** Redact at least as much as becomes more than a length; the rest follows as it is. */
  #redactStart(text: string, length: number): string {
    for (let size = length + 1; size + this.#maxLength < text.length; size *= 2) {
      const { shown, end } = this.#replace(text.slice(0, size + this.#maxLength), size)
      if (shown.length > length) return shown + text.slice(end)
    }
    return this.redact(text)
  }

  /** What becomes of a text up to a place, and where that is, for no secret is cut. */
  #replace(text: string, until: number): { shown: string; end: number } {
    let shown = ''
    let end = 0
    for (const hit of this.#find(text)) {
      if (hit.start >= until) break
      // What overlaps with a secret is hidden with it.
      if (hit.start >= end) shown += `${text.slice(end, hit.start)}[redacted ${hit.label}]`
      end = Math.max(end, hit.end)
    }
    return { shown: shown + text.slice(end, Math.max(end, until)), end: Math.max(end, until) }
  }

  /** In order; of those that begin at one place, the longest first. */
  #find(text: string): Hit[] {
    const hits = occurrences(text, this.#secrets)
    const spelled = canonical(text)
    for (const { start, end, label } of occurrences(spelled.text, this.#forms))
      hits.push({ ...spelled.locate(start, end), label })
    return hits.toSorted((a, b) => a.start - b.start || b.end - a.end)
  }
}

function occurrences(text: string, forms: Forms): Hit[] {
  const hits: Hit[] = []
  for (const [form, label] of forms) {
    for (let start = text.indexOf(form); start !== -1; start = text.indexOf(form, start + 1))
      hits.push({ start, end: start + form.length, label })
  }
  return hits
}

/** The canonical spellings of everything that stands for a secret. */
function formsOf(secret: string): string[] {
  const pieces = base64Pieces(secret).filter((piece) => piece.length >= MIN_BASE64_LENGTH)
  const urlPieces = pieces.map((piece) => piece.replaceAll('+', '-').replaceAll('/', '_'))
  return [secret, ...pieces, ...urlPieces]
    .map((form) => canonical(form).text)
    .filter((form) => form.length >= MIN_FORM_LENGTH)
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
