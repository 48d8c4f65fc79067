/**
 * The one step from a written configuration to a resolved one: every check, every default.
 *
 * Invariants: a {@link ResolvedConfig} is complete and valid, so nothing behind it checks or defaults again;
 * a refusal reports every problem at once, and never repeats a value of `env`, `headers`, or a URL's secrets.
 */
import { validateHeaderName } from 'node:http'
import { visibleLine } from '@deepseek-ai/dsh-mcp-text'
import { NUMBER_LIMITS, SERVER_NAME_PATTERN, type NumberLimit } from './limits.ts'

/** The reconnection policy with every default filled in. Fields as in {@link ReconnectConfig}. */
export interface ResolvedReconnect {
  readonly enabled: boolean
  readonly initialDelayMs: number
  readonly maxDelayMs: number
  readonly maxAttempts: number
}

/** What is left of the transport's part of a configuration after resolution. */
export type ResolvedEndpoint =
  | {
      readonly transport: 'stdio'
      readonly command: string
      readonly args: readonly string[]
      readonly env: Readonly<Record<string, string>>
      readonly cwd: string | undefined
    }
  | {
      readonly transport: 'streamable-http'
      readonly url: URL
      readonly headers: Readonly<Record<string, string>>
    }

/** A complete and valid configuration. Fields as in {@link Config}. */
export interface ResolvedConfig {
  readonly serverName: string
  readonly endpoint: ResolvedEndpoint
  readonly toolCallTimeoutMs: number
  readonly maxInstructionBytes: number
  readonly maxMessageBytes: number
  /** ms, or `undefined` when the check is switched off. */
  readonly livenessIntervalMs: number | undefined
  readonly failOnStartupError: boolean
  readonly reconnect: ResolvedReconnect
  /** Names of `env` and `headers` fields that were left out because they had no value, for a warning. */
  readonly omitted: readonly string[]
}

/** Thrown when a configuration cannot be used. Its message is complete: entry, paths, problems, what is accepted. */
export class McpClientConfigError extends Error {
  override readonly name = 'McpClientConfigError'
  /** One line for each problem, in the order of the fields. */
  readonly problems: readonly string[]

  constructor(entry: string, problems: readonly string[]) {
    super(`${entry}: invalid configuration\n${problems.map((problem) => `  - ${problem}`).join('\n')}`)
    this.problems = problems
  }
}

const COMMON_KEYS = [
  'transport',
  'serverName',
  'toolCallTimeoutMs',
  'maxInstructionBytes',
  'maxMessageBytes',
  'livenessIntervalMs',
  'failOnStartupError',
  'reconnect',
]
const TRANSPORT_KEYS = {
  stdio: ['command', 'args', 'env', 'cwd'],
  'streamable-http': ['url', 'headers'],
} as const
const RECONNECT_KEYS = ['enabled', 'initialDelayMs', 'maxDelayMs', 'maxAttempts']

/** Header names that the connection or the protocol sets by itself. */
const RESERVED_HEADERS = new Set([
  'accept',
  'connection',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'last-event-id',
  'mcp-method',
  'mcp-name',
  'mcp-protocol-version',
  'mcp-session-id',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** What a header can carry (RFC 9110, 5.5); line breaks around it are not sent (Fetch standard, normalize). */
const HEADER_VALUE = /^[\r\n]*[\t\u0020-\u007e\u0080-\u00ff]*[\r\n]*$/

type Fields = Record<string, unknown>

/** How a value is named in a problem without saying too much: its type, and itself where that is harmless. */
function show(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  if (typeof value === 'string')
    return value === '' ? 'an empty string' : JSON.stringify(visibleLine(value, 60))
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  return typeOf(value)
}

function typeOf(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' ? 'a mapping' : `a ${typeof value}`
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Reads the fields of one mapping, and keeps what is wrong with them. */
class FieldReader {
  readonly fields: Fields
  readonly prefix: string
  readonly problems: string[]

  constructor(fields: Fields, prefix: string, problems: string[]) {
    this.fields = fields
    this.prefix = prefix
    this.problems = problems
  }

  problem(key: string, found: string, accepted: string): void {
    this.problems.push(`${this.prefix}${key}: ${found}; expected ${accepted}`)
  }

  onlyKeys(accepted: readonly string[]): void {
    const unknown = Object.keys(this.fields).filter((key) => !accepted.includes(key))
    if (unknown.length === 0) return
    const names = unknown.map((key) => visibleLine(key, 60)).join(`, ${this.prefix}`)
    const found = unknown.length === 1 ? 'unknown field' : 'unknown fields'
    this.problem(names, found, `one of ${accepted.join(', ')}`)
  }

  string(key: string, accepted: string, isValid: (value: string) => boolean): string | undefined {
    const value = this.fields[key]
    if (typeof value === 'string' && isValid(value)) return value
    this.problem(key, value === undefined ? 'missing' : `got ${show(value)}`, accepted)
    return undefined
  }

  boolean(key: string, fallback: boolean): boolean {
    const value = this.fields[key]
    if (value === undefined || value === null) return fallback
    if (typeof value === 'boolean') return value
    this.problem(key, `got ${show(value)}`, 'true or false')
    return fallback
  }

  number(key: keyof typeof NUMBER_LIMITS, isOff?: (value: number) => boolean): number {
    const limit: NumberLimit = NUMBER_LIMITS[key]
    const value = this.fields[key.slice(this.prefix.length)]
    if (value === undefined || value === null) return limit.default
    const whole = limit.unit === 'ms' ? '' : 'whole '
    if (
      typeof value === 'number' &&
      ((value >= limit.min && value <= limit.max && (whole === '' || Number.isInteger(value))) ||
        isOff?.(value))
    ) {
      return value
    }
    const off = isOff ? ', or 0 to switch it off' : ''
    const range = `a ${whole}number of ${limit.unit} from ${limit.min} to ${limit.max}${off}`
    this.problem(key.slice(this.prefix.length), `got ${show(value)}`, range)
    return limit.default
  }

  /** A mapping of names to secret values: a problem says the name and the value's type, never the value. */
  secrets(key: string, check: (name: string, value: string) => string | undefined, omitted: string[]) {
    const value = this.fields[key]
    const read: Record<string, string> = Object.create(null)
    if (value === undefined || value === null) return read
    if (!isFields(value)) {
      this.problem(key, `got ${typeOf(value)}`, 'a mapping of names to strings')
      return read
    }
    for (const [name, secret] of Object.entries(value)) {
      // A whole line may have been written in place of the name, with the secret in it.
      const path = `${key}.${visibleLine(name.replace(/[=:\s].*$/su, '…'), 60)}`
      if (secret === undefined || secret === null) {
        omitted.push(path)
      } else if (typeof secret !== 'string') {
        this.problem(path, `got ${typeOf(secret)}`, 'a string (in YAML, put the value in quotes)')
      } else {
        const refusal = check(name, secret)
        if (refusal === undefined) read[name] = secret
        else this.problems.push(`${this.prefix}${path}: ${refusal}`)
      }
    }
    return read
  }
}

function readStdio(reader: FieldReader, omitted: string[]): ResolvedEndpoint {
  const command = reader.string(
    'command',
    'the name or path of a program',
    (value) => value.trim() !== '' && !value.includes('\0'),
  )
  const args: string[] = []
  const given = reader.fields['args'] ?? []
  if (Array.isArray(given)) {
    for (const [index, value] of given.entries()) {
      if (typeof value === 'string' && !value.includes('\0')) args.push(value)
      else
        reader.problem(
          `args[${index}]`,
          `got ${typeOf(value)}`,
          'a string without NUL (in YAML, put it in quotes)',
        )
    }
  } else {
    reader.problem('args', `got ${typeOf(given)}`, 'a list of strings')
  }
  const cwd =
    reader.fields['cwd'] === undefined || reader.fields['cwd'] === null
      ? undefined
      : reader.string('cwd', 'a folder', (value) => value !== '' && !value.includes('\0'))
  const env = reader.secrets(
    'env',
    (name, value) => {
      if (name === '' || /[=\0]/.test(name))
        return 'not a name that an environment can hold; expected characters without = and NUL'
      return value.includes('\0') ? 'its value holds NUL; expected text without it' : undefined
    },
    omitted,
  )
  return { transport: 'stdio', command: command ?? '', args, env, cwd }
}

function readUrl(reader: FieldReader): URL {
  const accepted = 'an absolute http: or https: URL'
  const fallback = new URL('http://invalid.invalid')
  const written = reader.string('url', accepted, (value) => value !== '')
  if (written === undefined) return fallback
  if (!URL.canParse(written)) {
    reader.problem('url', 'not a URL', accepted)
    return fallback
  }
  const url = new URL(written)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    reader.problem('url', `its scheme is ${JSON.stringify(visibleLine(url.protocol, 30))}`, accepted)
  }
  if (url.username !== '' || url.password !== '') {
    reader.problem(
      'url',
      'it holds a user name or password',
      'the credentials in headers.Authorization instead',
    )
  }
  return url
}

function checkHeader(name: string, value: string, seen: Set<string>): string | undefined {
  try {
    validateHeaderName(name)
  } catch {
    return "not a name that a header can have; expected letters, digits and ! # $ % & ' * + - . ^ _ ` | ~"
  }
  const lower = name.toLowerCase()
  if (RESERVED_HEADERS.has(lower)) return 'this header is set by the connection itself; leave it out'
  if (seen.has(lower)) return 'the header is given twice; names do not depend on case'
  seen.add(lower)
  if (!HEADER_VALUE.test(value)) {
    return 'its value holds characters that a header cannot carry; expected Latin-1 on one line, without control characters'
  }
  return undefined
}

function readHttp(reader: FieldReader, omitted: string[]): ResolvedEndpoint {
  const url = readUrl(reader)
  const seen = new Set<string>()
  const headers = reader.secrets('headers', (name, value) => checkHeader(name, value, seen), omitted)
  return { transport: 'streamable-http', url, headers }
}

function readReconnect(parent: FieldReader): ResolvedReconnect {
  const given = parent.fields['reconnect'] ?? {}
  if (!isFields(given)) parent.problem('reconnect', `got ${typeOf(given)}`, 'a mapping')
  const reader = new FieldReader(isFields(given) ? given : {}, 'reconnect.', parent.problems)
  reader.onlyKeys(RECONNECT_KEYS)
  const before = reader.problems.length
  const maxDelayMs = reader.number('reconnect.maxDelayMs')
  const isInitialGiven =
    reader.fields['initialDelayMs'] !== undefined && reader.fields['initialDelayMs'] !== null
  const initialDelayMs = isInitialGiven
    ? reader.number('reconnect.initialDelayMs')
    : Math.min(NUMBER_LIMITS['reconnect.initialDelayMs'].default, maxDelayMs)
  if (initialDelayMs > maxDelayMs && reader.problems.length === before) {
    reader.problem(
      'initialDelayMs',
      `got ${initialDelayMs}`,
      `at most reconnect.maxDelayMs, which is ${maxDelayMs}`,
    )
  }
  return {
    enabled: reader.boolean('enabled', true),
    initialDelayMs,
    maxDelayMs,
    maxAttempts: reader.number('reconnect.maxAttempts'),
  }
}

/** The transport that an entry without a valid one is most likely meant to have, so that its other problems are told. */
function likelyTransport(written: Fields): keyof typeof TRANSPORT_KEYS | undefined {
  const has = (kind: keyof typeof TRANSPORT_KEYS) =>
    TRANSPORT_KEYS[kind].some((key) => Object.hasOwn(written, key))
  if (has('stdio') === has('streamable-http')) return undefined
  return has('stdio') ? 'stdio' : 'streamable-http'
}

/** How log lines, errors and panels call an entry: `mcp-client(<serverName>)`. */
export function entryLabel(serverName: string): string {
  return `mcp-client(${serverName})`
}

/**
 * Check a written configuration and fill in its defaults.
 *
 * @param written - what the loader or a program passed; any value.
 * @returns the complete configuration.
 * @throws {McpClientConfigError} with every problem that was found.
 */
export function resolveConfig(written: unknown): ResolvedConfig {
  if (!isFields(written)) {
    throw new McpClientConfigError('mcp-client', [
      `got ${typeOf(written)}; expected a mapping with serverName and transport, in cordis.yml under "config:"`,
    ])
  }
  const problems: string[] = []
  const omitted: string[] = []
  const reader = new FieldReader(written, '', problems)
  const serverName = reader.string('serverName', '1 to 32 characters of A-Z a-z 0-9 _ -', (value) =>
    SERVER_NAME_PATTERN.test(value),
  )
  const transport = reader.string('transport', '"stdio" or "streamable-http"', (value) =>
    Object.hasOwn(TRANSPORT_KEYS, value),
  ) as keyof typeof TRANSPORT_KEYS | undefined
  const kind = transport ?? likelyTransport(written)
  if (kind !== undefined) reader.onlyKeys([...COMMON_KEYS, ...TRANSPORT_KEYS[kind]])
  const endpoint = kind === 'streamable-http' ? readHttp(reader, omitted) : kind && readStdio(reader, omitted)
  const livenessIntervalMs = reader.number('livenessIntervalMs', (value) => value === 0)
  const common = {
    toolCallTimeoutMs: reader.number('toolCallTimeoutMs'),
    maxInstructionBytes: reader.number('maxInstructionBytes'),
    maxMessageBytes: reader.number('maxMessageBytes'),
    livenessIntervalMs: livenessIntervalMs === 0 ? undefined : livenessIntervalMs,
    failOnStartupError: reader.boolean('failOnStartupError', false),
    reconnect: readReconnect(reader),
  }
  if (problems.length > 0 || serverName === undefined || endpoint === undefined) {
    const named = written['serverName']
    throw new McpClientConfigError(
      typeof named === 'string'
        ? entryLabel(visibleLine(named, 40))
        : `mcp-client (an entry ${named === undefined ? 'without serverName' : 'whose serverName is no text'})`,
      problems,
    )
  }
  return { serverName, endpoint, ...common, omitted }
}
