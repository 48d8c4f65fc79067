/** What goes wrong between here and an HTTP server: one precise sentence each, with the next step and no secret. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import type { StreamableHttpConfig } from '../../src/index.ts'
import {
  ERAS,
  failure,
  httpConfig,
  httpFixture,
  httpServer,
  openStream,
  result,
  scriptedServer,
  sendJson,
  tlsServer,
  type Answer,
} from '../http-support.ts'
import { eventually, host, mount } from '../support.ts'

const SECRET = 'sk-0123456789abcdef'
const QUERY = 'hidden-in-the-query'

/** The error of an entry whose first connection fails; nowhere is there a secret. */
async function startError(url: string, more: Partial<StreamableHttpConfig> = {}): Promise<string> {
  const on = await host()
  const reconnect = { initialDelayMs: 60_000, maxDelayMs: 60_000 }
  await mount(on, httpConfig(`${url}?key=${QUERY}`, { reconnect, ...more }))
  const status = on.statuses.latest('one')!
  const told = on.logText() + JSON.stringify(on.statuses.all())
  expect(told).not.toContain(SECRET)
  expect(told).not.toContain(QUERY)
  expect(status.status).toBe('reconnecting')
  const errors = on.logs.find({ level: 'error' })
  expect(errors).toHaveLength(1)
  expect(errors[0]!.text).toContain(`mcp-client(one): ${status.error}`)
  return status.error!
}

const withCredentials = { headers: { Authorization: `Bearer ${SECRET}` } }

/** A server that answers everything in the same way. */
const always = async (handle: RequestListener): Promise<string> => await httpServer(handle)

const page = (status: number) => (_request: IncomingMessage, response: ServerResponse) => {
  response.writeHead(status, { 'content-type': 'text/html' }).end('<!DOCTYPE html><title>Sign in</title>')
}

const body =
  (type: string, text: string): RequestListener =>
  (_request, response) =>
    response.writeHead(200, { 'content-type': type }).end(text)

describe('a connection that cannot be made', () => {
  it('because nothing listens', async () => {
    const fixture = await httpFixture()
    await fixture.stop()
    const error = await startError(fixture.url)
    expect(error).toBe(
      `nothing listens at 127.0.0.1:${fixture.port} (connection refused); start the server, or correct "url"`,
    )
  })

  it('because there is no such host', async () => {
    const error = await startError('http://no-such-host.invalid/mcp')
    expect(error).toMatch(/host "no-such-host\.invalid" .*DNS/)
  })

  it('because the certificate is not trusted', async () => {
    const port = await tlsServer(body('application/json', '{}'))
    const error = await startError(`https://localhost:${port}/mcp`)
    expect(error).toContain(
      `the TLS certificate of localhost:${port} is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT`,
    )
    expect(error).toContain('NODE_EXTRA_CA_CERTS')
  })

  it('because the server does not speak TLS', async () => {
    const url = await always(body('application/json', '{}'))
    const error = await startError(url.replace('http:', 'https:'))
    expect(error).toContain('does not speak TLS; if the server is plain HTTP, write http: in "url"')
  })

  it('because the server speaks TLS', async () => {
    const port = await tlsServer(body('application/json', '{}'))
    const error = await startError(`http://localhost:${port}/mcp`)
    expect(error).toContain('write https: in "url"')
  })

  it.each(ERAS)('because a %s server wants credentials', async (era) => {
    const fixture = await httpFixture({ era, requireHeaders: { authorization: 'Bearer right' } })
    expect(await startError(fixture.url)).toContain(
      `${fixture.url} requires authorization (HTTP 401); put credentials into headers.Authorization`,
    )
    expect(await startError(fixture.url, withCredentials)).toContain(
      'the configured headers.Authorization was not accepted; check that it is valid and has not expired',
    )
  })

  it.each(ERAS)('because a %s server refuses access', async (era) => {
    const fixture = await httpFixture({ era })
    fixture.intercept = () => ({ status: 403 })
    expect(await startError(fixture.url, withCredentials)).toContain('refuses access (HTTP 403)')
  })

  it('because the credentials lack a scope, which is named', async () => {
    const challenge = 'Bearer error="insufficient_scope", scope="files:read"'
    const fixture = await httpFixture()
    fixture.intercept = () => ({ status: 403, headers: { 'www-authenticate': challenge } })
    expect(await startError(fixture.url, withCredentials)).toContain('lack a scope: files:read')
  })

  it('because there is no endpoint at the path', async () => {
    const fixture = await httpFixture()
    const error = await startError(fixture.url.replace('/mcp', '/wrong'))
    expect(error).toContain(`there is no MCP endpoint at http://127.0.0.1:${fixture.port}/wrong (HTTP 404)`)
  })

  it('does not show a key in the path, neither as configured nor as the server repeats it', async () => {
    const key = '0a1b2c3d4e5f6a7b8c9d0e1f'
    const url = await always((request, response) => response.writeHead(400).end(`cannot POST ${request.url}`))
    const error = await startError(url.replace('/mcp', `/${key}/mcp`))
    expect(error).toContain(
      '/[redacted url path]/mcp refused the request (HTTP 400: cannot POST /[redacted url path]/mcp',
    )
    expect(error).not.toContain(key)
  })

  it('because the endpoint is of the older transport', async () => {
    const url = await always((_request, response) => response.writeHead(405).end())
    expect(await startError(url)).toContain('the older HTTP+SSE transport, which is not supported')
  })

  it('because the rate of requests is limited', async () => {
    const url = await always((_request, response) => response.writeHead(429).end())
    expect(await startError(url)).toContain('limits the rate of requests (HTTP 429)')
  })

  it('because the answer is a page', async () => {
    const error = await startError(await always(page(200)))
    expect(error).toContain('answered with text/html instead of JSON; it may be a login page')
  })

  it.each([400, 418, 500, 502])('because the answer is a page with HTTP %d', async (status) => {
    const error = await startError(await always(page(status)))
    expect(error).toContain(`(HTTP ${status}: an HTML page)`)
    expect(error).not.toContain('<')
  })

  it('because the answer is no JSON', async () => {
    const error = await startError(await always(body('application/json', '{"jsonrpc":')))
    expect(error).toContain('answered with invalid JSON: ')
  })

  it('because the answer is JSON of something else', async () => {
    const error = await startError(await always(body('application/json', '{"status":"ok"}')))
    expect(error).toContain('answered with JSON that is not JSON-RPC')
  })

  it('because the answer is empty', async () => {
    const error = await startError(await always(body('application/json', '')))
    expect(error).toContain('answered with invalid JSON: Unexpected end of JSON input')
  })

  it('because the answer has neither a body nor a type', async () => {
    const error = await startError(await always((_request, response) => response.writeHead(200).end()))
    expect(error).toContain('answered with no content type instead of JSON')
  })

  it('because the answer is an event stream with nothing in it', async () => {
    const url = await always((_request, response) => {
      openStream(response)
      response.end()
    })
    expect(await startError(url)).toContain('ended its answer before it was complete')
  })

  it('because the answer is a status that HTTP does not have', async () => {
    const error = await startError(await always((_request, response) => response.writeHead(999).end('?')))
    expect(error).toContain('answered with 999, which is no status of HTTP')
  })

  it('because of what the server says, in its own words but without hidden characters or secrets', async () => {
    const url = await always((request, response) => {
      const message = `\u{1b}]0;owned\u{7} no \u{202e}${request.headers.authorization} ${request.url}`
      sendJson(response, { jsonrpc: '2.0', id: null, error: { code: -32000, message } }, 400)
    })
    const error = await startError(url, withCredentials)
    expect(error).toContain(
      '\\u{1b}]0;owned\\u{7} no \\u{202e}[redacted headers.Authorization] /mcp?key=[redacted url ?key]',
    )
  })

  it('does not show half of a secret where the words are cut', async () => {
    const url = await always((request, response) => {
      response.writeHead(400, { 'content-type': 'text/plain' })
      response.end('x'.repeat(115) + String(request.headers.authorization))
    })
    const error = await startError(url, withCredentials)
    expect(error).toContain('(HTTP 400: xxx')
    expect(error).not.toContain(SECRET.slice(0, 6))
  })

  it('with an error page of any size', async () => {
    const url = await always((_request, response) => {
      response.writeHead(500, { 'content-type': 'text/plain' })
      response.end('y'.repeat(5_000_000))
    })
    expect((await startError(url)).length).toBeLessThan(600)
  })
})

describe('a redirect', () => {
  const credentials = { authorization: `Bearer ${SECRET}` }

  it.each(ERAS)('within the origin of a %s server is followed, with the credentials', async (era) => {
    const fixture = await httpFixture({ era, requireHeaders: credentials })
    fixture.intercept = ({ path }) =>
      path.startsWith('/old') ? { status: 307, headers: { location: '/mcp' } } : undefined
    const on = await host()
    await mount(on, httpConfig(fixture.url.replace('/mcp', '/old'), withCredentials))
    expect(on.text(await on.call('mcp__one__echo', { message: 'hi' }))).toBe('hi')
  })

  it.each([301, 302, 307, 308])(
    'to another origin with HTTP %d is not followed, and the credentials stay',
    async (status) => {
      const elsewhere = await httpFixture()
      const location = `${elsewhere.url}?token=abc`
      const url = await always((_request, response) => response.writeHead(status, { location }).end())
      const error = await startError(url, withCredentials)
      expect(error).toContain(`redirects to ${elsewhere.url} (HTTP ${status}), and that was not followed`)
      expect(error).toContain('set "url" to it')
      expect(error).not.toContain('abc')
      expect(elsewhere.requests).toEqual([])
    },
  )

  it('to nowhere is an error, too', async () => {
    const url = await always((_request, response) => response.writeHead(307).end())
    expect(await startError(url)).toContain('redirects elsewhere (HTTP 307)')
  })

  it('in a circle ends', async () => {
    const url = await always((_request, response) => response.writeHead(307, { location: '/mcp' }).end())
    expect(await startError(url)).toContain('(HTTP 307)')
  })
})

describe('a call on a connection that stands', () => {
  async function answered(answer: Answer) {
    const server = await scriptedServer({ 'tools/call': answer })
    const on = await host()
    await mount(on, httpConfig(server.url))
    const { content, isError } = await on.call('mcp__one__echo')
    expect(isError).toBe(true)
    await eventually(() => expect(on.statuses.latest('one')?.status).toBe('connected'))
    expect(on.statuses.kinds('one')).not.toContain('reconnecting')
    return on.text({ content })
  }

  it.each<[string, Answer, string]>([
    ['401', (_message, response) => response.writeHead(401).end(), 'requires authorization (HTTP 401)'],
    ['403', (_message, response) => response.writeHead(403).end(), 'refuses access (HTTP 403)'],
    [
      '413',
      (_message, response) => response.writeHead(413).end('too large'),
      'refused the request (HTTP 413: too large)',
    ],
  ])('that is refused with HTTP %s says what to do', async (_status, answer, words) => {
    const text = await answered(answer)
    expect(text).toContain(words)
    expect(text).not.toContain('unknown')
  })

  it.each<[string, Answer, string]>([
    ['a login page', (_message, response, request) => page(200)(request, response), 'instead of JSON'],
    [
      'invalid JSON',
      (_message, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{'),
      'invalid JSON',
    ],
    ['JSON of something else', (_message, response) => sendJson(response, { ok: true }), 'not JSON-RPC'],
  ])('that is answered with %s has an unknown outcome', async (_what, answer, words) => {
    const text = await answered(answer)
    expect(text).toContain(words)
    expect(text).toContain('Whether the call took effect is unknown')
  })

  it('that the server refuses is refused in its words', async () => {
    expect(await answered(failure(-32602, 'no such \u{202e}argument'))).toContain(
      'was refused with code -32602: no such \\u{202e}argument',
    )
  })

  it('that the server refuses without its id is refused in its words, too', async () => {
    const text = await answered((_message, response) =>
      sendJson(response, { jsonrpc: '2.0', id: null, error: { code: -32_700, message: 'cannot read this' } }),
    )
    expect(text).toContain('was refused with code -32700: cannot read this')
  })

  it('that is answered with null says that this is no JSON-RPC', async () => {
    expect(await answered((_message, response) => sendJson(response, null))).toContain('not JSON-RPC')
  })

  it('that is answered with something that is no result says so', async () => {
    expect(await answered(result({ content: 'text' }))).toContain('MCP tool "echo"')
  })
})
