/** Words and verdicts of single failures; that real servers lead to them is tested in http-failure.e2e.ts. */
import {
  InsufficientScopeError,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
} from '@modelcontextprotocol/client'
import { describe, expect, it } from 'vitest'
import {
  displayUrl,
  httpReason,
  isUnsent,
  judgeHttpError,
  networkReason,
  parseRetryAfter,
} from '../../src/transport/http-failure.ts'

const url = new URL('http://example.test:8080/mcp?key=secret')
const redact = (text: string) => text.replaceAll('secret', '[redacted]')
const context = { url, hasCredentials: false, redact }

const coded = (code: string, message = 'it failed') => Object.assign(new Error(message), { code })
const wrapped = (cause: unknown) => new TypeError('fetch failed', { cause })
const status = (code: number, text?: string, statusText?: string) =>
  new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, `HTTP ${code}`, {
    status: code,
    ...(statusText !== undefined && { statusText }),
    ...(text !== undefined && { text }),
  })

describe('a URL that is shown', () => {
  it('has no query, no credentials and no hidden characters', () => {
    expect(displayUrl(new URL('https://user:pass@example.test/a?b=c#d'), redact)).toBe(
      'https://example.test/a',
    )
  })

  it('loses a secret before it is cut', () => {
    const long = new URL(`https://example.test/${'a'.repeat(165)}/secret`)
    expect(displayUrl(long, redact)).toMatch(/a\/\[redac|a\/\[redacted\]$|a … \(\+/)
    expect(displayUrl(long, redact)).not.toMatch(/\/se/)
  })
})

describe('the reason of an exchange without an answer', () => {
  it.each([
    ['ECONNREFUSED', 'nothing listens at example.test:8080 (connection refused)'],
    ['ENOTFOUND', 'there is no host "example.test" (DNS)'],
    ['EAI_AGAIN', 'the host "example.test" could not be looked up'],
    ['ETIMEDOUT', 'did not accept a connection in time'],
    ['UND_ERR_CONNECT_TIMEOUT', 'did not accept a connection in time'],
    ['ECONNRESET', 'closed the connection before it answered'],
    ['EPIPE', 'closed the connection before it answered'],
    ['UND_ERR_SOCKET', 'closed the connection before it answered'],
    ['EPROTO', 'does not speak TLS'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'does not speak TLS'],
    ['ERR_SSL_PACKET_LENGTH_TOO_LONG', 'does not speak TLS'],
    ['HPE_INVALID_CONSTANT', 'is not HTTP (HPE_INVALID_CONSTANT)'],
    ['CERT_HAS_EXPIRED', 'is not trusted (CERT_HAS_EXPIRED: it failed)'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'is not trusted'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'is not trusted'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'is not trusted'],
    ['EHOSTUNREACH', 'the request to example.test:8080 failed: it failed'],
  ])('with the code %s', (code, words) => {
    expect(networkReason(wrapped(coded(code)), url, true, redact)).toContain(words)
  })

  it('is found behind an attempt at several addresses', () => {
    const error = wrapped(new AggregateError([coded('ECONNREFUSED'), coded('ECONNREFUSED')]))
    expect(networkReason(error, url, true, redact)).toContain('connection refused')
  })

  it('without a code is the deepest message, on one line and without hidden characters', () => {
    expect(networkReason(wrapped(new Error('bad\n\u{1b}')), url, true, redact)).toBe(
      'the request to example.test:8080 failed: bad\\n\\u{1b}',
    )
    expect(networkReason(new Error('outer', { cause: new Error('') }), url, true, redact)).toContain('outer')
    expect(networkReason('odd', url, true, redact)).toContain('failed: odd')
  })

  it('of a closed connection names TLS only where nothing was ever answered in plain HTTP', () => {
    const closed = wrapped(coded('ECONNRESET'))
    expect(networkReason(closed, url, false, redact)).toContain('write https: in "url"')
    expect(networkReason(closed, url, true, redact)).not.toContain('https:')
    expect(networkReason(closed, new URL('https://example.test/mcp'), false, redact)).not.toContain('write')
  })
})

describe('a request that was never sent', () => {
  it.each([
    'ECONNREFUSED',
    'ENOTFOUND',
    'EAI_AGAIN',
    'EHOSTUNREACH',
    'ENETUNREACH',
    'UND_ERR_CONNECT_TIMEOUT',
  ])('is told by the code %s', (code) => {
    expect(isUnsent(wrapped(coded(code)))).toBe(true)
  })

  it('is not assumed where a connection was there, or nothing is known', () => {
    expect(isUnsent(wrapped(coded('ECONNRESET')))).toBe(false)
    expect(isUnsent(wrapped(coded('ETIMEDOUT')))).toBe(false)
    expect(isUnsent(new Error('unknown'))).toBe(false)
  })
})

describe('the reason of an answer', () => {
  const reason = (error: unknown, more = {}) => httpReason(error, { ...context, ...more })

  it('is none for an error that is about something else', () => {
    expect(reason(new Error('other', { cause: new Error('deeper') }))).toBeUndefined()
    expect(reason('text')).toBeUndefined()
    expect(reason(new SdkError(SdkErrorCode.RequestTimeout, 'late'))).toBeUndefined()
  })

  it('is found wherever it stands in the chain of causes', () => {
    expect(reason(new Error('outer', { cause: status(404) }))).toContain('(HTTP 404)')
  })

  it('with an error status says what the server said, without secrets', () => {
    expect(reason(status(400, 'the key secret is wrong'))).toBe(
      'http://example.test:8080/mcp refused the request (HTTP 400: the key [redacted] is wrong)',
    )
    expect(reason(status(500, '', 'Internal'))).toBe(
      'http://example.test:8080/mcp is not available (HTTP 500)',
    )
    expect(reason(status(500, undefined, 'Internal'))).toContain('(HTTP 500: Internal)')
    expect(reason(status(500))).toContain('(HTTP 500)')
  })

  it('with a JSON-RPC error is its message; with other JSON, its beginning', () => {
    expect(reason(status(400, '{"error":{"code":1,"message":" bad input "}}'))).toContain(
      '(HTTP 400: bad input)',
    )
    expect(reason(status(400, '{"error":{"message":1}}'))).toContain('{"error":{"message":1}}')
    expect(reason(status(400, '{"error":null}'))).toContain('{"error":null}')
    expect(reason(status(400, `"${'x'.repeat(300)}"`))!.length).toBeLessThan(260)
  })

  it('for want of a scope names it where the server does', () => {
    const lacking = (scope?: string) =>
      new InsufficientScopeError({ ...(scope !== undefined && { requiredScope: scope }) })
    expect(reason(lacking('files:read'))).toMatch(/lack a scope: files:read$/u)
    expect(reason(lacking())).toMatch(/lack a scope$/u)
  })

  it('with a redirect says where to', () => {
    const redirectTarget = new URL('https://other.test/mcp?token=secret')
    expect(reason(status(302), { redirectTarget })).toContain(
      'redirects to https://other.test/mcp (HTTP 302)',
    )
    expect(reason(status(302))).toContain('redirects elsewhere (HTTP 302)')
  })

  it('without a usable type names it', () => {
    const unexpected = (contentType: unknown) =>
      new SdkError(SdkErrorCode.ClientHttpUnexpectedContent, 'unexpected', { contentType })
    expect(reason(unexpected('text/html'))).toContain('answered with text/html instead of JSON')
    expect(reason(unexpected(null))).toContain('answered with no content type instead of JSON')
    const bare = new SdkError(SdkErrorCode.ClientHttpUnexpectedContent, 'unexpected')
    expect(reason(bare)).toContain('no content type')
  })
})

describe('the verdict about a connection', () => {
  const unopened = (code: number) =>
    new SdkHttpError(SdkErrorCode.ClientHttpFailedToOpenStream, 'no stream', { status: code })

  it.each([404, 410])('after HTTP %d depends on whether there was a session', (code) => {
    expect(judgeHttpError(status(code), true)).toBe('session-lost')
    expect(judgeHttpError(status(code), false)).toBe('unclear')
  })

  it('after a stream that was not opened is open, whatever the status', () => {
    expect(judgeHttpError(unopened(404), true)).toBe('unclear')
    expect(judgeHttpError(unopened(503), true)).toBe('unclear')
  })

  it.each([429, 502, 503, 504])('after HTTP %d is that the server is not available', (code) => {
    expect(judgeHttpError(status(code, 'no session'), true)).toBe('unavailable')
  })

  it.each([301, 302, 307, 308, 401, 403, 405, 500, 501])(
    'after HTTP %d is open: it may be another server',
    (code) => {
      expect(judgeHttpError(status(code), true)).toBe('unclear')
    },
  )

  it.each([400, 402, 406, 409, 413, 415, 422, 499])('after HTTP %d is about the request', (code) => {
    expect(judgeHttpError(status(code), true)).toBe('request')
  })

  it('after a status that is no refusal is not in doubt for its words', () => {
    expect(judgeHttpError(status(501, 'session not found'), true)).toBe('unclear')
    expect(judgeHttpError(status(302, 'session expired'), true)).toBe('unclear')
  })

  it.each([
    'Session not found',
    'The session does not exist',
    'session id is missing',
    'Session has been terminated',
    'No valid session ID provided',
    'Missing session ID',
    'Invalid or expired session',
    'unknown session',
    'Server not initialized',
    'the server has not been initialized',
    'Unexpected message, expect initialize request',
    'Unsupported protocol version: 2025-11-25',
  ])('is in doubt when a refusal says "%s"', (text) => {
    expect(judgeHttpError(status(400, text), true)).toBe('session-doubt')
    expect(judgeHttpError(new ProtocolError(-32_000, text), false)).toBe('session-doubt')
  })

  it.each(['possession not found', 'sessions are listed', 'initialized', 'not found', ''])(
    'is not in doubt when a refusal says "%s"',
    (text) => {
      expect(judgeHttpError(status(400, text), true)).toBe('request')
      expect(judgeHttpError(new ProtocolError(-32_000, text), true)).toBe('request')
    },
  )

  it('is not in doubt for words far behind in a long text', () => {
    expect(judgeHttpError(status(400, `${'x'.repeat(2000)} session not found`), true)).toBe('request')
  })

  it('after a JSON-RPC error is in doubt only for the codes of a transport', () => {
    const verdict = (code: number, message = 'session not found') =>
      judgeHttpError(new ProtocolError(code, message), true)
    expect([-32_000, -32_001, -32_002, -32_600].map((code) => verdict(code))).toEqual(
      Array(4).fill('session-doubt'),
    )
    expect([-32_601, -32_602, -32_603, 1].map((code) => verdict(code))).toEqual(Array(4).fill('request'))
    expect(verdict(-32_022, 'what?')).toBe('session-doubt')
  })

  it.each([
    ['a time-out', new SdkError(SdkErrorCode.RequestTimeout, 'late')],
    ['a dropped stream', new Error('SSE stream disconnected')],
    ['a page', new SdkError(SdkErrorCode.ClientHttpUnexpectedContent, 'a page')],
    ['what is no JSON', new SyntaxError('odd')],
    ['what is no JSON-RPC', Object.assign(new TypeError('odd'), { name: 'ZodError' })],
    [
      'what is no JSON-RPC, as another Zod calls it',
      Object.assign(new TypeError('odd'), { name: '$ZodError' }),
    ],
  ])('after %s is open', (_what, error) => {
    expect(judgeHttpError(error, true)).toBe('unclear')
  })

  it.each([
    ['an invalid result', new SdkError(SdkErrorCode.InvalidResult, 'odd')],
    ['an error of the program', new TypeError('odd')],
    ['something that is no error', 'odd'],
  ])('after %s is about the request', (_what, error) => {
    expect(judgeHttpError(error, true)).toBe('request')
  })
})

describe('the wait that a server asks for', () => {
  const now = Date.UTC(2026, 0, 1)

  it.each([
    ['3', 3000],
    [' 0 ', 0],
    [new Date(now + 5000).toUTCString(), 5000],
    [new Date(now - 5000).toUTCString(), 0],
    ['9'.repeat(400), Number.POSITIVE_INFINITY],
  ])('in "%s" is understood', (value, ms) => {
    expect(parseRetryAfter(value, now)).toBe(ms)
  })

  it.each([null, '', 'soon', '-1', '1.5 s'])('in %j is none', (value) => {
    expect(parseRetryAfter(value, now)).toBeUndefined()
  })
})
