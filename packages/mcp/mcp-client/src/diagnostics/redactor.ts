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

/** A longer value is looked for by itself: an alternative of a pattern can be too large for it to be a pattern. */
const MAX_IN_PATTERN = 1024

/** A shorter piece of Base64 could be a piece of anything. */
const MIN_BASE64_LENGTH = 6

// `RegExp.escape` needs Node 24; the package runs on Node 22.
function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}

function isSecretName(name: string): boolean {
  return SENSITIVE_ENV_PATTERN.test(name) || /auth|cookie/i.test(name)
}

/** A part of a path that is a key rather than a word: long, with letters and digits. Hosted servers are often reached so. */
const KEY_SEGMENT = /^(?=.*\d)(?=.*[a-z])[\w.~-]{20,}$/i

/** An argument that is an option with its value, and one that is an option whose value is the next argument. */
const OPTION_WITH_VALUE = /^--?([\w-]+)=(.*)$/s
const OPTION = /^--?([\w-]+)$/

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

/** What stands behind the user name in the credential of Basic authentication (RFC 7617). */
function passwordOf(credential: string): string {
  const pair = Buffer.from(credential, 'base64').toString()
  return pair.slice(pair.indexOf(':') + 1)
}

/** Replaces the configured secrets of an entry by their names. */
export class Redactor {
  readonly #names = new Map<string, string>()
  readonly #long: readonly string[]
  readonly #pattern: RegExp | undefined

  constructor(endpoint: ResolvedEndpoint) {
    if (endpoint.transport === 'stdio') {
      for (const [name, value] of Object.entries(endpoint.env)) this.#add(`env.${name}`, value, name)
      this.#addArguments(endpoint.args)
    } else {
      for (const [name, value] of Object.entries(endpoint.headers)) {
        this.#add(`headers.${name}`, value, name)
        const [scheme, credential] = value.split(/\s+/, 2)
        if (credential === undefined) continue
        this.#add(`headers.${name}`, credential, name)
        if (/^basic$/i.test(scheme!)) this.#add(`headers.${name}`, passwordOf(credential), name)
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
    this.#long = longestFirst.filter((value) => value.length > MAX_IN_PATTERN)
    const short = longestFirst.slice(this.#long.length)
    if (short.length > 0) this.#pattern = new RegExp(short.map(escapePattern).join('|'), 'g')
  }

  /** A token is often an argument, and a server's words often repeat its command line. */
  #addArguments(args: readonly string[]): void {
    for (const [index, argument] of args.entries()) {
      const [, name, value] = OPTION_WITH_VALUE.exec(argument) ?? OPTION.exec(argument) ?? []
      if (name !== undefined && isSecretName(name))
        this.#add(`--${name}`, value ?? args[index + 1] ?? '', name)
    }
  }

  #add(label: string, value: string, name: string): void {
    if (value.length < (isSecretName(name) ? MIN_SECRET_LENGTH : MIN_PLAIN_LENGTH)) return
    this.#names.set(value, label)
    this.#names.set(JSON.stringify(value).slice(1, -1), label)
    if (value.isWellFormed()) this.#names.set(encodeURIComponent(value), label)
    for (const piece of base64Pieces(value)) {
      if (piece.length < MIN_BASE64_LENGTH) continue
      this.#names.set(piece, label)
      this.#names.set(piece.replaceAll('+', '-').replaceAll('/', '_'), label)
    }
    const lines = value.split(/\r?\n/)
    if (lines.length > 1) for (const line of lines) this.#add(label, line, '')
  }

  /** The text with each secret replaced by `[redacted <its field>]`; the same string when there is none. */
  redact(text: string): string {
    const label = (value: string) => `[redacted ${this.#names.get(value)}]`
    const rest = this.#long.reduce((left, value) => left.replaceAll(value, label), text)
    return this.#pattern === undefined ? rest : rest.replace(this.#pattern, label)
  }
}
