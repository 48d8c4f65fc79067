/**
 * Keeps the secrets of one entry out of what is logged, thrown or shown.
 *
 * Invariant: everything that may hold a server's or a transport's own words passes {@link Redactor.redact}
 * before it leaves the package.
 */
import { SENSITIVE_ENV_PATTERN } from '@deepseek-ai/dsh-subprocess'
import type { ResolvedEndpoint } from '../config/resolve.ts'

/** Values shorter than this are words of everyday text, not secrets, unless their name says otherwise. */
const MIN_PLAIN_LENGTH = 8
const MIN_SECRET_LENGTH = 4

// `RegExp.escape` needs Node 24; the package runs on Node 22.
function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}

/** A part of a path that is a key rather than a word: long, with letters and digits. Hosted servers are often reached so. */
const KEY_SEGMENT = /^(?=.*\d)(?=.*[a-z])[\w.~-]{20,}$/i

/** Replaces the configured secrets of an entry by their names. */
export class Redactor {
  readonly #names = new Map<string, string>()
  readonly #pattern: RegExp | undefined

  constructor(endpoint: ResolvedEndpoint) {
    if (endpoint.transport === 'stdio') {
      for (const [name, value] of Object.entries(endpoint.env)) this.#add(`env.${name}`, value, name)
    } else {
      for (const [name, value] of Object.entries(endpoint.headers)) {
        this.#add(`headers.${name}`, value, name)
        const credential = value.split(/\s+/, 2)[1]
        if (credential !== undefined) this.#add(`headers.${name}`, credential, name)
      }
      for (const segment of endpoint.url.pathname.split('/')) {
        if (KEY_SEGMENT.test(segment)) this.#add('url path', segment, '')
      }
      for (const [name, value] of endpoint.url.searchParams) this.#add(`url ?${name}`, value, name)
      // As it was written, which need not be how it would be encoded, and also when it has no name.
      for (const pair of endpoint.url.search.slice(1).split('&')) {
        const equals = pair.indexOf('=')
        const name = pair.slice(0, Math.max(equals, 0))
        this.#add(`url ?${name}`, pair.slice(equals + 1), name)
      }
    }
    const longestFirst = [...this.#names.keys()].toSorted((a, b) => b.length - a.length)
    if (longestFirst.length > 0) this.#pattern = new RegExp(longestFirst.map(escapePattern).join('|'), 'g')
  }

  #add(label: string, value: string, name: string): void {
    const isNamedSecret = SENSITIVE_ENV_PATTERN.test(name) || /auth|cookie/i.test(name)
    if (value.length < (isNamedSecret ? MIN_SECRET_LENGTH : MIN_PLAIN_LENGTH)) return
    this.#names.set(value, label)
    this.#names.set(JSON.stringify(value).slice(1, -1), label)
    if (value.isWellFormed()) this.#names.set(encodeURIComponent(value), label)
    const lines = value.split(/\r?\n/)
    if (lines.length > 1) for (const line of lines) this.#add(label, line, '')
  }

  /** The text with each secret replaced by `[redacted <its field>]`; the same string when there is none. */
  redact(text: string): string {
    if (this.#pattern === undefined) return text
    return text.replace(this.#pattern, (value) => `[redacted ${this.#names.get(value)}]`)
  }
}
