/**
 * What of a configuration is secret: values of `env` and `headers`, what is in them, and the keys of a URL or of the
 * arguments.
 *
 * Invariant: too much rather than too little, but never a word of everyday text, nor a path or address under a name
 * that says nothing of a secret: operators have to read those.
 */
import { SENSITIVE_ENV_PATTERN } from '@deepseek-ai/dsh-subprocess'
import type { ResolvedEndpoint } from '../config/resolve.ts'

/** Values shorter than this are words of everyday text, not secrets, unless their name says otherwise. */
const MIN_PLAIN_LENGTH = 8
const MIN_SECRET_LENGTH = 4

/** A word that is a key: long, with letters and digits. Hosted servers are often reached by a path with one in it. */
const KEY = /^(?=.*\d)(?=.*[a-z])[\w.~+-]{20,}$/i

/** The words of a value that is composed: a cookie, a list of parameters, JSON, a header line. */
const WORDS = /[^\s"',;:&/(){}[\]=]+/g

/** A path of any system. */
const PATH = /^(?:\.{0,2}[\\/]|~[\\/]|[a-z]:[\\/])/i

/** An address without a user and a query. */
const ADDRESS = /^[a-z][\w+.-]*:\/\/[^@?]*$/i

/** An argument that is an option with its value, and one that is an option whose value is the next argument. */
const OPTION_WITH_VALUE = /^--?([\w-]+)=(.*)$/s
const OPTION = /^--?([\w-]+)$/

/** An argument that is a line of a header. */
const HEADER_LINE = /^([\w-]+):\s*(.*)$/s

/** What else the name of a secret has in it, beside what the host looks for. */
const SECRET_NAME = /auth|cookie|pass|pwd|cred|(?:^|[_-])(?:pin|pat|jwt)(?:[_-]|$)/i

/** Values of switches, whatever they are called. */
const SWITCH = /^(?:true|false|none|null|auto)$/i

function isSecretName(name: string): boolean {
  return SENSITIVE_ENV_PATTERN.test(name) || SECRET_NAME.test(name)
}

/** The secrets of an endpoint, and for each the field that it stands in. */
export function secretsOf(endpoint: ResolvedEndpoint): ReadonlyMap<string, string> {
  const secrets = new Secrets()
  if (endpoint.transport === 'stdio') {
    for (const [name, value] of Object.entries(endpoint.env)) secrets.add(`env.${name}`, value, name)
    secrets.addArguments(endpoint.args)
  } else {
    for (const [name, value] of Object.entries(endpoint.headers))
      secrets.addHeader(`headers.${name}`, value, name)
    secrets.addUrl(endpoint.url)
  }
  return secrets.found
}

class Secrets {
  readonly found = new Map<string, string>()

  /** @param name - what the value is called, which tells whether it is a secret for certain. */
  add(label: string, value: string, name: string): void {
    // What is said about a secret comes without the spaces around it.
    const text = value.trim()
    const isNamed = isSecretName(name)
    const isPath = PATH.test(text)
    const isPlace = isPath || ADDRESS.test(text)
    if (isNamed || !isPlace) this.#keep(label, text, isNamed ? MIN_SECRET_LENGTH : MIN_PLAIN_LENGTH)
    if (!isPath) this.#addWords(label, text, isNamed)
    if (URL.canParse(text)) this.#keep(label, decoded(new URL(text).password), MIN_SECRET_LENGTH)
    const lines = text.split(/\r?\n/)
    if (lines.length > 1) for (const line of lines) this.add(label, line, '')
  }

  addHeader(label: string, value: string, name: string): void {
    this.add(label, value, name)
    const [scheme = '', credential] = value.trim().split(/\s+/, 2)
    if (credential === undefined) return
    this.#keep(label, credential, isSecretName(name) ? MIN_SECRET_LENGTH : MIN_PLAIN_LENGTH)
    if (/^basic$/i.test(scheme)) this.#keep(label, passwordOf(credential), MIN_SECRET_LENGTH)
  }

  addUrl({ pathname, search, searchParams }: URL): void {
    this.#addWords('url path', pathname, false)
    for (const [name, value] of searchParams) this.add(`url ?${name}`, value, name)
    // As it was written, which need not be how it would be encoded, and also when it has no name.
    for (const pair of search.slice(1).split('&')) {
      const equals = pair.indexOf('=')
      const name = pair.slice(0, Math.max(equals, 0))
      this.add(`url ?${name}`, pair.slice(equals + 1), name)
    }
  }

  /** A token is often an argument, and a server's words often repeat its command line. */
  addArguments(args: readonly string[]): void {
    for (const [index, argument] of args.entries()) {
      const [, name, value] = OPTION_WITH_VALUE.exec(argument) ?? OPTION.exec(argument) ?? []
      if (name !== undefined && isSecretName(name))
        this.add(`--${name}`, value ?? args[index + 1] ?? '', name)
      const [, header, content] = HEADER_LINE.exec(argument) ?? []
      if (header !== undefined && isSecretName(header)) this.addHeader(`args ${header}`, content!, header)
    }
  }

  #addWords(label: string, text: string, isNamed: boolean): void {
    for (const word of text.match(WORDS) ?? []) {
      if (KEY.test(word) || isNamed) this.#keep(label, word, MIN_PLAIN_LENGTH)
    }
  }

  #keep(label: string, text: string, minLength: number): void {
    if (text.length < minLength || SWITCH.test(text) || this.found.has(text)) return
    this.found.set(text, label)
  }
}

/** What stands behind the user name in the credential of Basic authentication (RFC 7617). */
function passwordOf(credential: string): string {
  const pair = Buffer.from(credential, 'base64').toString()
  return pair.slice(pair.indexOf(':') + 1)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
