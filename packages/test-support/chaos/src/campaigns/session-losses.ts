/**
 * A server behind HTTP that forgets its session again and again, and says so in another way each time, while four
 * calls are on their way. Each call is answered, and was executed exactly once; they share one new session.
 */

import * as mcpClient from '@deepseek-ai/dsh-mcp-client'
import { startHttpFixture, type HttpFixture } from '@dsh-mcp/fixtures'
import { startHost } from '@dsh-mcp/host'
import { forgetful, SESSION_REFUSALS } from '../faults/session-refusals.ts'
import { startGateway } from '../gateway.ts'
import { catalog } from '../inject.ts'
import { Record } from './record.ts'
import type { Campaign, CampaignOptions } from './types.ts'

const CALLS = 4

/** How the server loses its sessions. */
const WAYS = [...Object.keys(SESSION_REFUSALS), 'restart']

/** Lose the session, recover, and replay. */
export const sessionLosses: Campaign = {
  name: 'session-losses',
  does: 'forget the session while four calls are on their way',
  defaultTimes: 100,
  async run(options: CampaignOptions) {
    const { random, signal } = options
    await using host = await startHost({ logLevel: 0 })
    await using fixture = await startHttpFixture({ era: 'legacy' })
    await using gateway = await startGateway(() => fixture.url)
    const record = new Record(options)
    await host.mount(mcpClient, {
      serverName: 'zoo',
      transport: 'streamable-http',
      url: gateway.url,
      reconnect: { initialDelayMs: 5, maxDelayMs: 20, maxAttempts: 1_000_000 },
    })
    const expected = catalog(host)
    const echo = mcpClient.publicToolName('zoo', 'echo')

    async function lose(way: string): Promise<string[]> {
      const refuse = SESSION_REFUSALS[way]
      const openings = gateway.exchanges.get('initialize') ?? 0
      forget(fixture)
      if (refuse === undefined) {
        await fixture.restart()
      } else {
        gateway.fault = forgetful(refuse)
        await fixture.closeSessions()
      }
      const messages = Array.from({ length: CALLS }, (_, index) => `${way} ${index}`)
      const results = await Promise.all(messages.map((message) => host.call(echo, { message }, { signal })))
      const problems: string[] = []
      for (const [index, result] of results.entries()) {
        if (host.text(result) !== messages[index]) problems.push(`a call gave ${host.text(result)}`)
      }
      const executed = fixture.toolbox.calls.length
      if (executed !== CALLS) problems.push(`${executed} calls were executed instead of ${CALLS}`)
      const opened = (gateway.exchanges.get('initialize') ?? 0) - openings
      if (opened !== 1) problems.push(`${opened} sessions were opened instead of one`)
      if (catalog(host) !== expected) problems.push('the tools are not those of before')
      return problems
    }

    async function loseAll(times: number): Promise<void> {
      for (let time = 0; time < times; time++) {
        const way = random.pick(WAYS)
        const startedAt = performance.now()
        const problems = await lose(way).catch((error: unknown) => [String(error)])
        record.add(way, performance.now() - startedAt, problems)
      }
      forget(fixture)
    }

    return await record.measure(host, options.times, loseAll)
  },
}

/** What the fixture has recorded is not the plugin's. */
function forget(fixture: HttpFixture): void {
  for (const recorded of [fixture.toolbox.calls, fixture.toolbox.cancellations, fixture.requests]) {
    ;(recorded as unknown[]).length = 0
  }
}
