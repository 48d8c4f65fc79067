/** How servers say that they do not know a session: the 404 of the specification, and what they send instead. */

import type { Exchange, GatewayFault } from '../gateway.ts'

function refuse({ response }: Exchange, status: number, body: string, type = 'text/plain'): true {
  response.writeHead(status, { 'content-type': type }).end(body)
  return true
}

function refuseInJson(exchange: Exchange, status: number, code: number, message: string): true {
  const { id = null } = exchange.message
  const body = JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } })
  return refuse(exchange, status, body, 'application/json')
}

/** The refusals, by a name for a fault. */
export const SESSION_REFUSALS: Readonly<Record<string, GatewayFault>> = {
  '404': (exchange) => refuseInJson(exchange, 404, -32_001, 'Session not found'),
  '404-html': (exchange) => refuse(exchange, 404, '<html>Not Found</html>', 'text/html'),
  '410': (exchange) => refuse(exchange, 410, 'Gone'),
  '400-text': (exchange) => refuse(exchange, 400, 'Bad Request: No valid session ID provided'),
  '400-json': (exchange) => refuseInJson(exchange, 400, -32_000, 'Bad Request: Server not initialized'),
  '200': (exchange) => refuseInJson(exchange, 200, -32_001, 'Session not found'),
}

/** Refuses every request of the session that comes first, and none of a later one. */
export function forgetful(refusal: GatewayFault): GatewayFault {
  let forgotten: string | undefined
  return (exchange) => {
    const session = exchange.request.headers['mcp-session-id']
    if (typeof session !== 'string') return false
    forgotten ??= session
    return session === forgotten && refusal(exchange)
  }
}
