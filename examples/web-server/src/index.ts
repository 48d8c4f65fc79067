/**
 * A Cordis plugin that serves the example MCP server over Streamable HTTP (2026-07-28) on a free loopback port.
 *
 * It provides `ctx.webServer`, whose `url` a client entry of the same composition takes by
 * `url: !!js ctx.webServer.url`; with `inject: [webServer]` that entry waits until the port is known, and follows
 * when the server is restarted on another one.
 */
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Context } from '@deepseek-ai/cordis'
import { localhostHostValidation, localhostOriginValidation, toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler } from '@modelcontextprotocol/server'
import { createHandbook } from './server.ts'

declare module '@deepseek-ai/cordis' {
  interface Context {
    /** Where the example server listens. */
    webServer: { readonly url: string }
  }
}

/** The plugin's name. */
export const name = 'web-server'

/** Start listening; the disposal of the plugin closes every connection. */
export async function apply(ctx: Context): Promise<void> {
  const handler = createMcpHandler(createHandbook)
  const handle = toNodeHandler(handler)
  const isLocalHost = localhostHostValidation()
  const isLocalOrigin = localhostOriginValidation()
  const server = createServer((request, response) => {
    if (!isLocalHost(request, response) || !isLocalOrigin(request, response)) return
    if (new URL(request.url ?? '', 'http://localhost').pathname !== '/mcp') {
      response.writeHead(404).end()
      return
    }
    // A request that reached a server has a method and a URL; Node's type covers responses to clients too.
    handle(request as IncomingMessage & { method: string; url: string }, response).catch((error: unknown) => {
      ctx.logger.warn('a request failed: %s', error)
      response.destroy()
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  ctx.effect(
    () => async () => {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await handler.close()
      await closed
    },
    'web-server',
  )
  const { port } = server.address() as AddressInfo
  ctx.provide('webServer', { url: `http://127.0.0.1:${port}/mcp` })
}
