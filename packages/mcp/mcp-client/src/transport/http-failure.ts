/**
 * What went wrong between here and an HTTP server, in one precise sentence with the next step.
 *
 * Pure: it reads errors and statuses, and decides nothing but words and kinds.
 */
import { visibleLine } from '@deepseek-ai/dsh-mcp-text'
import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client'

/** Longest excerpt of a server's answer in a reason, in characters. */
const MAX_EXCERPT_LENGTH = 160

/** An endpoint as it may be shown: without its query, which can hold secrets. */
export function displayUrl(url: URL): string {
  return visibleLine(`${url.origin}${url.pathname}`)
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

/**
 * The reason of an exchange that got no answer: nothing listens, no such host, no trust, no HTTP.
 *
 * @param error - what `fetch` threw.
 */
export function networkReason(error: unknown, url: URL): string {
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
      return `${url.host} closed the connection before it answered`
    case 'EPROTO':
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
    case 'ERR_SSL_PACKET_LENGTH_TOO_LONG':
      return `${url.host} does not speak TLS; if the server is plain HTTP, write http: in "url"`
  }
  if (code?.startsWith('HPE_')) {
    return `the answer of ${url.host} is not HTTP (${code}); if the server speaks TLS, write https: in "url"`
  }
  if (code !== undefined && /CERT|SELF_SIGNED|UNABLE_TO|ALTNAME/.test(code)) {
    return `the TLS certificate of ${url.host} is not trusted (${code}: ${visibleLine(deepestMessage(error), MAX_EXCERPT_LENGTH)}); correct the certificate, or name its authority with NODE_EXTRA_CA_CERTS`
  }
  return `the request to ${url.host} failed: ${visibleLine(deepestMessage(error), MAX_EXCERPT_LENGTH)}`
}

/** What a reason about an HTTP status has to know of the request. */
export interface StatusContext {
  readonly url: URL
  /** Whether `headers.Authorization` is configured. */
  readonly hasCredentials: boolean
}

function unauthorizedReason({ url, hasCredentials }: StatusContext): string {
  const step = hasCredentials
    ? 'the configured headers.Authorization was not accepted; check that it is valid and has not expired'
    : 'put credentials into headers.Authorization'
  return `${displayUrl(url)} requires authorization (HTTP 401); ${step}`
}

/** The reason of an answer with an error status. */
function statusReason(error: SdkHttpError, context: StatusContext): string {
  const { url } = context
  const shown = displayUrl(url)
  const { status } = error
  // The SDK's text for a redirect that it did not follow says where to and what to do.
  if (status >= 300 && status < 400) return `HTTP ${status}: ${visibleLine(error.message, 300)}`
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
  const text = typeof error.data['text'] === 'string' ? error.data['text'] : (error.statusText ?? '')
  const excerpt = /^\s*<(!doctype|html)/i.test(text) ? 'an HTML page' : visibleLine(text.trim(), MAX_EXCERPT_LENGTH)
  const said = excerpt === '' ? '' : `: ${excerpt}`
  return `${shown} ${status >= 500 ? 'is not available' : 'refused the request'} (HTTP ${status}${said})`
}

/**
 * The reason that an error of the SDK's HTTP transport gives, or `undefined` when it gives none of its own.
 *
 * @param error - what a request or the negotiation threw.
 */
export function httpReason(error: unknown, context: StatusContext): string | undefined {
  const shown = displayUrl(context.url)
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof SdkHttpError) return statusReason(cause, context)
    if (cause.name === 'UnauthorizedError') return unauthorizedReason(context)
    if (cause instanceof SdkError && cause.code === SdkErrorCode.ClientHttpUnexpectedContent) {
      const type = visibleLine(String((cause.data as { contentType?: unknown } | undefined)?.contentType), 60)
      return `${shown} answered with ${type} instead of JSON; it may be a login page, a proxy's error, or not an MCP endpoint: check "url" and "headers"`
    }
    if (cause instanceof SyntaxError) return `${shown} answered with invalid JSON: ${visibleLine(cause.message, MAX_EXCERPT_LENGTH)}`
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
  /** The server cannot serve now. */
  | 'unavailable'
  /** It may be gone: only another exchange can tell. */
  | 'unclear'

const SESSION_REFUSAL = /session.{0,40}(not found|expired|invalid|unknown|terminated|does not exist)|(no|missing|invalid|unknown|expired)( or (missing|invalid|expired))?( valid)? session|not initialized/i

/** JSON-RPC codes that servers send for a lost session where the specification has HTTP 404. */
const SESSION_ERROR_CODES = new Set([-32000, -32001, -32600])

/**
 * Judge an error.
 *
 * @param hadSession - whether the request carried a session id; without one, no session can be lost.
 */
export function judgeHttpError(error: unknown, hadSession: boolean): HttpVerdict {
  if (error instanceof SdkHttpError) {
    const { status } = error
    // Many servers have no GET route at all and answer 404 there while the session is fine.
    if (error.code === SdkErrorCode.ClientHttpFailedToOpenStream) return 'unclear'
    const text = typeof error.data['text'] === 'string' ? error.data['text'] : ''
    if (hadSession && (status === 404 || status === 410 || (status === 400 && SESSION_REFUSAL.test(text)))) return 'session-lost'
    if (UNAVAILABLE_STATUSES.has(status)) return 'unavailable'
    return status >= 500 ? 'unclear' : 'request'
  }
  if (error instanceof ProtocolError) {
    const isRefusal = hadSession && SESSION_ERROR_CODES.has(error.code) && SESSION_REFUSAL.test(error.message)
    return isRefusal ? 'session-lost' : 'request'
  }
  if (error instanceof SdkError) return error.code === SdkErrorCode.RequestTimeout ? 'unclear' : 'request'
  // The SDK reports a dropped stream as a plain error.
  return error instanceof Error && error.constructor === Error ? 'unclear' : 'request'
}

/**
 * The wait that a `Retry-After` header asks for, in ms.
 *
 * @param value - seconds or an HTTP date (RFC 9110, 10.2.3); anything else asks for nothing.
 */
export function parseRetryAfter(value: string | null, now: number): number | undefined {
  if (value === null) return undefined
  if (/^\d+$/.test(value.trim())) return Number(value) * 1000
  const at = Date.parse(value)
  return Number.isNaN(at) ? undefined : Math.max(0, at - now)
}
