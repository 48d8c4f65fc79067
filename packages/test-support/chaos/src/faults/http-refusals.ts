/** A server behind HTTP that does not let the client in, or is not where the client asks. */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { answer, http, LEGACY, MODERN, onNextCall } from './http.ts'
import type { Fault } from './types.ts'

const LOGIN_PAGE = '<!doctype html><title>Log in</title>'
const HTML = { 'content-type': 'text/html' }

/** Faults of credentials, addresses and what stands in between. */
export const refusalFaults: readonly Fault[] = [
  http(
    'unauthorized-401',
    'wants credentials',
    'start',
    {
      ends: 'failed',
      error: /requires authorization \(HTTP 401\); put credentials into headers\.Authorization/u,
    },
    { ...LEGACY, requireHeaders: { authorization: 'Bearer right' } },
  ),
  http(
    'wrong-credentials-401',
    'does not accept the credentials',
    'start',
    { ends: 'failed', error: /\(HTTP 401\); the configured headers\.Authorization was not accepted/u },
    { ...MODERN, requireHeaders: { authorization: 'Bearer right' } },
    () => ({
      config: { headers: { Authorization: 'Bearer wr0ng-s3cret' } },
      check: (host) => {
        const said = host.logText() + JSON.stringify(host.statuses.all())
        return said.includes('wr0ng') ? ['the credentials are in the log or in a status'] : []
      },
    }),
  ),
  http(
    'expires-401',
    'does not accept the credentials any more',
    'call',
    { ends: 'connected', refusal: /requires authorization \(HTTP 401\)/u },
    LEGACY,
    onNextCall(({ response }) => answer(response, 401, 'expired')),
  ),
  http(
    'login-page',
    'answers with a login page',
    'start',
    { ends: 'failed', error: /answered with text\/html instead of JSON; it may be a login page/u },
    LEGACY,
    ({ gateway }) => {
      gateway.fault = ({ response }) => answer(response, 200, LOGIN_PAGE, HTML)
      return {}
    },
  ),
  http(
    'login-page-in-call',
    'answers a call with a login page',
    'call',
    { ends: 'connected', refusal: /answered with text\/html instead of JSON; it may be a login page/u },
    LEGACY,
    onNextCall(({ response }) => answer(response, 200, LOGIN_PAGE, HTML)),
  ),
  http(
    'redirects-away',
    'redirects to another origin',
    'start',
    {
      ends: 'failed',
      error: /redirects to http:\/\/127\.0\.0\.1:\d+\/stolen \(HTTP 307\), and that was not followed/u,
    },
    LEGACY,
    async ({ gateway }) => {
      let visits = 0
      const other = createServer((_, response) => {
        visits++
        response.end()
      })
      await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
      const location = `http://127.0.0.1:${(other.address() as AddressInfo).port}/stolen`
      gateway.fault = ({ response }) => answer(response, 307, '', { location })
      return {
        config: { headers: { Authorization: 'Bearer s3cret-s3cret' } },
        check: () => (visits === 0 ? [] : ['the other origin was asked']),
        close: () => new Promise((resolve) => void other.close(() => resolve())),
      }
    },
  ),
  http(
    'not-tls',
    'does not speak TLS although its URL says so',
    'start',
    { ends: 'failed', error: /does not speak TLS; if the server is plain HTTP, write http: in "url"/u },
    LEGACY,
    ({ gateway }) => ({ config: { url: gateway.url.replace('http:', 'https:') } }),
  ),
  http(
    'wrong-path',
    'has its endpoint somewhere else',
    'start',
    { ends: 'failed', error: /there is no MCP endpoint at .*\/wrong \(HTTP 404\); check the path of "url"/u },
    LEGACY,
    ({ gateway }) => ({ config: { url: gateway.url.replace('/mcp', '/wrong') } }),
  ),
]
