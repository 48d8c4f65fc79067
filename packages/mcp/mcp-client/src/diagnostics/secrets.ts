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

/** A word that may be a key: long, with letters and digits. Hosted servers are often reached by a path with one. */
const KEY = /^(?=.*\d)(?=.*[a-z])[\w.~+-]{20,}$/i

/** A part of a name for people: a word with a number at most, a number, a version. */
const NAME_PART = /^(?:[a-z]{0,24}|[A-Z]{1,24}|[A-Z][a-z]{1,23})\d{0,4}$/

/** The words of a value that is composed: a cookie, a list of parameters, JSON, a header line. */
const WORDS = /[^\s"',;:&/(){}[\]=]+/g

/** A path of any system. */
const PATH = /^(?:\.{0,2}[\\/]|~[\\/]|[a-z]:[\\/])/i

/** An address without a user and a query. */
const ADDRESS = /^[a-z][\w+.-]*:\/\/[^@?]*$/i

/** An argument that gives something a value: an option, a variable, the line of a header. */
const ASSIGNMENT = /^(?:--?|\/)?([\w.-]+)[=:]\s*(.*)$/s

/** An argument that is an option whose value is the next argument. */
const OPTION = /^--?([\w.-]+)$/

/** What else the name of a secret has in it, beside what the host looks for. */
const SECRET_NAME = /auth|cookie|pass|pwd|cred|(?:^|[_-])(?:pin|pat|jwt)(?:[_-]|$)/i

/** Values of switches, whatever they are called. */
const SWITCH = /^(?:true|false|none|null|auto)$/i

function isSecretName(name: string): boolean {
  return SENSITIVE_ENV_PATTERN.test(name) || SECRET_NAME.test(name)
}

function isKey(word: string): boolean {
  return KEY.test(word) && !word.split(/[.~+_-]/).every((part) => NAME_PART.test(part))
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

  addUrl(url: URL): void {
    this.#addWords('url path', url.pathname, false)
    for (const [name, value] of queryOf(url)) this.add(`url ?${name}`, value, name)
  }

  /** A token is often an argument, and a server's words often repeat its command line. */
  addArguments(args: readonly string[]): void {
    for (const [index, argument] of args.entries()) {
      const [, option] = OPTION.exec(argument) ?? []
      if (option !== undefined && isSecretName(option))
        this.add(`args ${option}`, args[index + 1] ?? '', option)
      // What is given a value may be an assignment itself: `--env=API_TOKEN=…`, `--header=Authorization: …`.
      for (let rest: string | undefined = argument; rest !== undefined;) rest = this.#addArgument(rest)
    }
  }

  /** Returns what is left to look at. */
  #addArgument(argument: string): string | undefined {
    if (URL.canParse(argument)) this.#addAddress(new URL(argument))
    for (const [name, value] of namedStrings(argument)) this.#addNamed(name, value)
    const [, name, value] = ASSIGNMENT.exec(argument) ?? []
    if (name === undefined || !isSecretName(name)) return value
    this.addHeader(`args ${name}`, value!, name)
    return undefined
  }

  #addAddress(url: URL): void {
    for (const password of [url.password, decoded(url.password)])
      this.#keep('args', password, MIN_SECRET_LENGTH)
    for (const [name, value] of queryOf(url)) this.#addNamed(name, value)
  }

  #addNamed(name: string, value: string): void {
    if (isSecretName(name)) this.add(`args ${name}`, value, name)
  }

  #addWords(label: string, text: string, isNamed: boolean): void {
    for (const word of text.match(WORDS) ?? []) {
      if (isNamed || isKey(word)) this.#keep(label, word, MIN_PLAIN_LENGTH)
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

/** The parameters of a URL, decoded and as they were written, which need not be how they would be encoded. */
function queryOf({ search, searchParams }: URL): [name: string, value: string][] {
  const written = search
    .slice(1)
    .split('&')
    .map((pair): [string, string] => {
      const equals = pair.indexOf('=')
      // A parameter without a name is one, too.
      return [pair.slice(0, Math.max(equals, 0)), pair.slice(equals + 1)]
    })
  return [...searchParams, ...written]
}

/** The strings of an argument that is JSON, with their names. */
function namedStrings(argument: string): [name: string, value: string][] {
  const found: [string, string][] = []
  try {
    JSON.parse(argument, (name, value: unknown) => {
      if (typeof value === 'string') found.push([name, value])
    })
  } catch {
    // Most are no JSON.
  }
  return found
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
