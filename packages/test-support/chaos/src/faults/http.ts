/**
 * Makes faults of servers behind HTTP. The server is the fixtures' own, a real SDK server of either era; what goes
 * wrong on the way is done by a gateway in front of it.
 */

import type { ServerResponse } from 'node:http'
import type { StreamableHttpConfig } from '@deepseek-ai/dsh-mcp-client'
import { startHttpFixture, type HttpFixture, type HttpFixtureOptions } from '@dsh-mcp/fixtures'
import { startGateway, type Gateway, type GatewayFault } from '../gateway.ts'
import type { Expectation, Fault, FaultyServer } from './types.ts'

/** A fixture server and the gateway in front of it. */
export interface Site {
  readonly fixture: HttpFixture
  readonly gateway: Gateway
}

/** What happens at a site. */
export type SiteParts = Omit<FaultyServer, 'config' | 'close'> & {
  config?: Partial<StreamableHttpConfig>
  /** Ends what is there besides the site itself. */
  close?(): void | Promise<void>
}

/** A server of 2025-11-25 and one of 2026-07-28. */
export const LEGACY: HttpFixtureOptions = { era: 'legacy' }
export const MODERN: HttpFixtureOptions = { era: 'modern' }

/** A fault of a server behind HTTP. */
export function http(
  name: string,
  does: string,
  meets: Fault['meets'],
  expect: Expectation,
  options: HttpFixtureOptions,
  parts: (site: Site) => SiteParts | Promise<SiteParts> = () => ({}),
): Fault {
  async function serve(): Promise<FaultyServer> {
    const fixture = await startHttpFixture(options)
    const gateway = await startGateway(() => fixture.url)
    const { config, close, ...rest } = await parts({ fixture, gateway })
    return {
      config: { transport: 'streamable-http', url: gateway.url, ...config },
      ...rest,
      close: async () => {
        await close?.()
        await gateway[Symbol.asyncDispose]()
        await fixture[Symbol.asyncDispose]()
      },
    }
  }
  return { name, does, transport: 'http', meets, expect, serve }
}

/** Do something to the first call of a tool from now on. */
export function onNextCall(
  fault: GatewayFault,
  config: Partial<StreamableHttpConfig> = {},
): (site: Site) => SiteParts {
  return ({ gateway }) => ({
    config,
    arm: () => {
      gateway.fault = once((exchange) => exchange.message.method === 'tools/call' && fault(exchange))
    },
  })
}

/** Take over the first exchange that the fault takes, and no other. */
export function once(fault: GatewayFault): GatewayFault {
  let wasHit = false
  return (exchange) => {
    if (wasHit || !fault(exchange)) return false
    wasHit = true
    return true
  }
}

/** Send a whole answer. */
export function answer(
  response: ServerResponse,
  status: number,
  body: string,
  headers: Record<string, string> = {},
): true {
  response.writeHead(status, { 'content-type': 'text/plain', ...headers }).end(body)
  return true
}
