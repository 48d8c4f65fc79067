/**
 * What went wrong between here and an HTTP server, in one precise sentence with the next step.
 *
 * Pure: it reads errors and statuses, and decides nothing but words and kinds.
 */
import { visibleLine } from '@deepseek-ai/dsh-mcp-text'
import type { Redactor } from '../diagnostics/redactor.ts'
import {
  InsufficientScopeError,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
} from '@modelcontextprotocol/client'

/** Longest excerpt of a server's answer in a reason, in characters. */
const MAX_EXCERPT_LENGTH = 160

/** Takes the secrets out of a text, before it is cut. */
type Redact = (text: string) => string

/** An endpoint as it may be shown: without its query, which can hold secrets. */
export function displayUrl(url: URL, redact: Redact): string {
  return visibleLine(redact(`${url.origin}${url.pathname}`))
}

/** The system's or undici's code for a failed exchange, wherever it stands in the chain of causes. */
function codeOf(error: unknown): string | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof AggregateError) return codeOf(cause.errors[0])
    const { code } = cause as { code?: unknown }
    if (typeof code === 'string') return code
  }
  return undefined
}

function deepestMessage(error: unknown): string {
  let message = String(error)
  for (let cause = error; cause instanceof Error; cause = cause.cause) message = cause.message || message
  return message
}

/** A server that speaks TLS closes a connection that does not. */
function closedHint({ protocol }: URL): string {
  return protocol === 'http:' ? '; if the server speaks TLS, write https: in "url"' : ''
}

/**
 * The reason of an exchange that got no answer: nothing listens, no such host, no trust, no HTTP.
 *
 * @param error - what `fetch` threw.
 * @param hasAnswered - whether the server has answered anything on this connection.
 * @param redact - takes the secrets out of the system's words.
 */
export function networkReason(error: unknown, url: URL, hasAnswered: boolean, redact: Redact): string {
  const said = () => visibleLine(redact(deepestMessage(error)), MAX_EXCERPT_LENGTH)
  const code = codeOf(error)
  switch (code) {
    case 'ECONNREFUSED':
      return `nothing listens at ${url.host} (connection refused); start the server, or correct "url"`
    case 'ENOTFOUND':
      return `there is no host ${JSON.stringify(url.hostname)} (DNS); correct "url"`
    case 'EAI_AGAIN':
      return `the host ${JSON.stringify(url.hostname)} could not be looked up (DNS is not reachable); check the network`
    case 'ETIMEDOUT':
    case 'UND_ERR_CONNECT_TIMEOUT':
      return `${url.host} did not accept a connection in time; check the network, a firewall, and "url"`
    case 'ECONNRESET':
    case 'EPIPE':
    case 'UND_ERR_SOCKET':
      return `${url.host} closed the connection before it answered${hasAnswered ? '' : closedHint(url)}`
    case 'EPROTO':
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
    case 'ERR_SSL_PACKET_LENGTH_TOO_LONG':
      return `${url.host} does not speak TLS; if the server is plain HTTP, write http: in "url"`
    case undefined:
  }
  if (code?.startsWith('HPE_')) {
    return `the answer of ${url.host} is not HTTP (${code}); if the server speaks TLS, write https: in "url"`
  }
  if (code !== undefined && /CERT|SELF_SIGNED|UNABLE_TO|ALTNAME/.test(code)) {
    return `the TLS certificate of ${url.host} is not trusted (${code}: ${said()}); correct the certificate, or name its authority with NODE_EXTRA_CA_CERTS`
  }
  return `the request to ${url.host} failed: ${said()}`
}

/**
 * The reason of an answer that began and cannot be read to its end: the connection broke, or it is not encoded as it
 * says.
 */
export function brokenReason(error: unknown, url: URL, redactor: Redactor): string {
  return `the answer of ${url.host} broke off: ${redactor.line(deepestMessage(error), MAX_EXCERPT_LENGTH)}`
}

/** Codes of exchanges that ended before anything was sent: there was no connection. */
const UNSENT_CODES = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
])

/** Whether an exchange provably ended before anything was sent. */
export function isUnsent(error: unknown): boolean {
  return UNSENT_CODES.has(codeOf(error) ?? '')
}

/** What a reason about an HTTP answer has to know of the exchange. */
export interface ExchangeContext {
  readonly url: URL
  /** Whether `headers.Authorization` is configured. */
  readonly hasCredentials: boolean
  /** Where the last redirect that was answered points to. */
  readonly redirectTarget?: URL | undefined
  readonly redact: Redact
}

function unauthorizedReason({ url, hasCredentials, redact }: ExchangeContext): string {
  const step = hasCredentials
    ? 'the configured headers.Authorization was not accepted; check that it is valid and has not expired'
    : 'put credentials into headers.Authorization'
  return `${displayUrl(url, redact)} requires authorization (HTTP 401); ${step}`
}

function redirectReason(status: number, { url, redirectTarget, redact }: ExchangeContext): string {
  const target = redirectTarget === undefined ? 'elsewhere' : `to ${displayUrl(redirectTarget, redact)}`
  return `${displayUrl(url, redact)} redirects ${target} (HTTP ${status}), and that was not followed, so that nothing of "headers" is sent there; if it is the intended server, set "url" to it`
}

/** What a server says in the body of an error status: the message of a JSON-RPC error, or the beginning of the text. */
function excerptOf(body: string, { redact }: ExchangeContext): string {
  const text = redact(body)
  if (/^\s*<(!doctype|html)/i.test(text)) return 'an HTML page'
  try {
    const { message } = (JSON.parse(text) as { error: { message: unknown } }).error
    if (typeof message === 'string') return visibleLine(message.trim(), MAX_EXCERPT_LENGTH)
  } catch {
    // It is not JSON-RPC, so it is shown as it is.
  }
  return visibleLine(text.trim(), MAX_EXCERPT_LENGTH)
}

function bodyOf(error: SdkHttpError): string {
  const { text } = error.data
  return typeof text === 'string' ? text : (error.statusText ?? '')
}

/** The reason of an answer with an error status. */
function statusReason(error: SdkHttpError, context: ExchangeContext): string {
  const shown = displayUrl(context.url, context.redact)
  const { status } = error
  if (status >= 300 && status < 400) return redirectReason(status, context)
  switch (status) {
    case 401:
      return unauthorizedReason(context)
    case 403:
      return `${shown} refuses access (HTTP 403); the credentials in "headers" lack a permission, or the server does not admit this host`
    case 404:
      return `there is no MCP endpoint at ${shown} (HTTP 404); check the path of "url", often /mcp`
    case 405:
      return `${shown} does not take MCP requests (HTTP 405); it may be an endpoint of the older HTTP+SSE transport, which is not supported`
    case 429:
      return `${shown} limits the rate of requests (HTTP 429)`
  }
  const excerpt = excerptOf(bodyOf(error), context)
  const said = excerpt === '' ? '' : `: ${excerpt}`
  return `${shown} ${status >= 500 ? 'is not available' : 'refused the request'} (HTTP ${status}${said})`
}

/** The reason of an answer that is no answer of an MCP server, although its status says success. */
function contentReason(type: unknown, shown: string, redact: Redact): string {
  const got = typeof type === 'string' ? visibleLine(redact(type), 60) : 'no content type'
  return `${shown} answered with ${got} instead of JSON; it may be a login page, a proxy's error, or not an MCP endpoint: check "url" and "headers"`
}

/**
 * The reason that an error of the SDK's HTTP transport gives, or `undefined` when it gives none of its own.
 *
 * @param error - what a request or the negotiation threw.
 */
export function httpReason(error: unknown, context: ExchangeContext): string | undefined {
  const shown = displayUrl(context.url, context.redact)
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof SdkHttpError) return statusReason(cause, context)
    if (cause instanceof InsufficientScopeError) {
      const scope =
        cause.requiredScope === undefined
          ? ''
          : `: ${visibleLine(context.redact(cause.requiredScope), MAX_EXCERPT_LENGTH)}`
      return `${shown} refuses access (HTTP 403); the credentials in "headers" lack a scope${scope}`
    }
    if (cause instanceof SdkError && cause.code === SdkErrorCode.ClientHttpUnexpectedContent) {
      return contentReason(
        (cause.data as { contentType?: unknown } | undefined)?.contentType,
        shown,
        context.redact,
      )
    }
    if (cause instanceof SyntaxError) {
      return `${shown} answered with invalid JSON: ${visibleLine(context.redact(cause.message), MAX_EXCERPT_LENGTH)}`
    }
    if (isZodError(cause)) {
      return `${shown} answered with JSON that is not JSON-RPC; it may not be an MCP endpoint: check "url"`
    }
  }
  return undefined
}

/** Statuses that say that the server as a whole cannot serve now. */
const UNAVAILABLE_STATUSES = new Set([429, 502, 503, 504])

/** What an error of a request says about the connection. */
export type HttpVerdict =
  /** The server is there; the error is about the request. */
  | 'request'
  /** The server no longer knows the session, and did not execute the request. */
  | 'session-lost'
  /** Somebody says that there is no session, but it may be a tool that means something else by it. */
  | 'session-doubt'
  /** The server cannot serve now. */
  | 'unavailable'
  /** It may be gone: only another exchange can tell. */
  | 'unclear'

/**
 * How servers say, each in its own words, that a request does not belong to a session, came before `initialize`,
 * or is in a protocol revision that they do not speak (any more).
 */
const REFUSAL =
  /\bsession\b.{0,60}\b(not found|not exist|expired|invalid|unknown|terminated|closed|missing|required)|\b(no|not|missing|invalid|unknown|expired|without)\b.{0,30}\bsession\b|\bnot (been )?initialized\b|\bexpect(ed)? initialize\b|\bunsupported protocol version\b/i

/** Of a refusal, this much is looked at. */
const MAX_REFUSAL_LENGTH = 2000

/**
 * JSON-RPC codes that come with such words where the specification has HTTP 404: implementation-defined ones,
 * and the one for an invalid request. Codes for bad parameters and internal errors are a tool's own.
 */
const REFUSAL_CODES = new Set([-32_000, -32_001, -32_002, -32_600])

/** The code that says so of the protocol revision, in 2026-07-28. */
const UNSUPPORTED_PROTOCOL_VERSION = -32_022

function readsAsRefusal(text: string): boolean {
  return REFUSAL.test(text.slice(0, MAX_REFUSAL_LENGTH))
}

/** Statuses that a server of the protocol does not answer a request with: somebody else is there, or nothing. */
function isForeign(status: number): boolean {
  return (
    status < 400 || status === 401 || status === 403 || status === 404 || status === 405 || status === 410
  )
}

function judgeStatus(error: SdkHttpError, hadSession: boolean): HttpVerdict {
  const { status } = error
  // Many servers have no GET route at all and answer 404 there while the session is fine.
  if (error.code === SdkErrorCode.ClientHttpFailedToOpenStream) return 'unclear'
  if (hadSession && (status === 404 || status === 410)) return 'session-lost'
  if (UNAVAILABLE_STATUSES.has(status)) return 'unavailable'
  if (status >= 400 && status < 500 && readsAsRefusal(bodyOf(error))) return 'session-doubt'
  return status >= 500 || isForeign(status) ? 'unclear' : 'request'
}

/**
 * Judge an error.
 *
 * @param hadSession - whether the request carried a session id; without one, a 404 is about the path.
 */
export function judgeHttpError(error: unknown, hadSession: boolean): HttpVerdict {
  if (error instanceof SdkHttpError) return judgeStatus(error, hadSession)
  if (error instanceof ProtocolError) {
    const isRefusal = REFUSAL_CODES.has(error.code) && readsAsRefusal(error.message)
    return isRefusal || error.code === UNSUPPORTED_PROTOCOL_VERSION ? 'session-doubt' : 'request'
  }
  if (error instanceof SdkError) {
    const isOpen =
      error.code === SdkErrorCode.RequestTimeout || error.code === SdkErrorCode.ClientHttpUnexpectedContent
    return isOpen ? 'unclear' : 'request'
  }
  // The SDK reports a dropped stream as a plain error, and what is no message as an error of the parser.
  const isOpen = error instanceof Error && (error.constructor === Error || isUnreadable(error))
  return isOpen ? 'unclear' : 'request'
}

/** Whether an error is that of an answer that is no JSON, or no JSON-RPC. */
function isUnreadable(error: Error): boolean {
  return error instanceof SyntaxError || isZodError(error)
}

/** The SDK checks messages with Zod, whose errors print as a page of JSON. */
function isZodError({ name }: Error): boolean {
  return name === 'ZodError' || name === '$ZodError'
}

/**
 * The wait that a `Retry-After` header asks for, in ms.
 *
 * @param value - seconds or an HTTP date (RFC 9110, 10.2.3); anything else asks for nothing.
 */
export function parseRetryAfter(value: string | null, now: number): number | undefined {
  if (value === null) return undefined
  if (/^\d+$/.test(value.trim())) return Number(value) * 1000
  // Date.parse takes much more than the three forms of a date in HTTP, all of which start with the day of the week.
  const at = /^\s*[a-z]{3}/i.test(value) ? Date.parse(value) : Number.NaN
  return Number.isNaN(at) ? undefined : Math.max(0, at - now)
}
