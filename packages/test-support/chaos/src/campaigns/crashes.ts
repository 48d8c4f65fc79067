/**
 * Servers that crash, in many ways, at the same time in one host: in a call, by a signal, with helpers left behind,
 * below a wrapper. After each crash the tools are the same, byte for byte, and the next call is served.
 */

import * as mcpClient from '@deepseek-ai/dsh-mcp-client'
import { fixtureCommand } from '@dsh-mcp/fixtures'
import { startHost, type TestHost } from '@dsh-mcp/host'
import { catalog } from '../inject.ts'
import { EntryMark } from '../processes.ts'
import type { Random } from '../random.ts'
import { Record } from './record.ts'
import type { Campaign, CampaignOptions } from './types.ts'

/** Programs of the zoo that crash when they are struck. */
const PROGRAMS: readonly (readonly [program: string, ...args: string[]])[] = [
  ['crash-in-call'],
  ['silent-exit'],
  ['killed'],
  ['helper-holds-pipes'],
  ['helper-in-own-session'],
  ['wrapper', '1', 'crash-in-call'],
]

/** How a server comes to its end: by a call, or by a signal from outside. */
const WAYS = ['call', 'call', 'SIGKILL', 'SIGTERM', 'SIGSEGV'] as const

/** A bound for what never comes, in ms. */
const PATIENCE_MS = 60_000

/** One server and its entry. */
class Victim {
  readonly serverName: string
  readonly #host: TestHost
  readonly #mark = new EntryMark()

  constructor(host: TestHost, index: number) {
    this.#host = host
    this.serverName = `zoo-${index}`
  }

  async mount(program: readonly [string, ...string[]]): Promise<void> {
    await this.#host.mount(mcpClient, {
      serverName: this.serverName,
      transport: 'stdio',
      ...fixtureCommand(`zoo/${program[0]}`, ...program.slice(1)),
      env: this.#mark.env,
      reconnect: { initialDelayMs: 5, maxDelayMs: 20, maxAttempts: 1_000_000 },
    })
  }

  /** Let it crash and come back. Returns what is wrong then. */
  async crash(way: (typeof WAYS)[number], expected: string, signal: AbortSignal): Promise<string[]> {
    const host = this.#host
    const problems: string[] = []
    const strike = async () => {
      if (way === 'call') {
        const result = await host.call(this.#tool('strike'), {}, { signal })
        if (!result.isError) problems.push('the call that crashed it succeeded')
      } else {
        // Started first of its tree, so that its id is the lowest, but for a rare wrap of the counter.
        const pid = Math.min(...this.#mark.processes().map((process) => process.pid))
        process.kill(pid, way)
      }
    }
    await host.status(this.serverName, 'connected', { during: strike, timeout: PATIENCE_MS })
    if (catalog(host) !== expected) problems.push('the tools are not those of before')
    const answer = await host.call(this.#tool('echo'), { message: way }, { signal })
    if (host.text(answer) !== way) problems.push(`the next call gave ${host.text(answer)}`)
    const trees = new Set(this.#mark.processes().map(({ tree }) => tree))
    if (trees.size !== 1 || trees.has('')) problems.push(`there are ${trees.size} generations of it at once`)
    return problems
  }

  #tool(name: string): string {
    return mcpClient.publicToolName(this.serverName, name)
  }
}

/** Draw who crashes how, before anything happens, so that it does not depend on timing. */
function draw(
  random: Random,
  times: number,
  victims: readonly Victim[],
): Map<Victim, (typeof WAYS)[number][]> {
  const plan = new Map(victims.map((victim) => [victim, [] as (typeof WAYS)[number][]]))
  for (let time = 0; time < times; time++) plan.get(random.pick(victims))!.push(random.pick(WAYS))
  return plan
}

/** Crash and recover. */
export const crashes: Campaign = {
  name: 'crash-cycles',
  does: 'crash in calls and by signals, six servers at a time',
  defaultTimes: 200,
  async run(options: CampaignOptions) {
    const { random, signal } = options
    await using host = await startHost({ logLevel: 0 })
    const record = new Record(options)
    const victims = PROGRAMS.map((_, index) => new Victim(host, index))
    await Promise.all(victims.map((victim, index) => victim.mount(PROGRAMS[index]!)))
    const expected = catalog(host)

    async function crashAll(times: number): Promise<void> {
      const plan = draw(random, times, victims)
      const lives = [...plan].map(async ([victim, ways]) => {
        for (const way of ways) {
          const startedAt = performance.now()
          const problems = await victim
            .crash(way, expected, signal)
            .catch((error: unknown) => [String(error)])
          record.add(
            `${victim.serverName} (${PROGRAMS[victims.indexOf(victim)]!.join(' ')}, ${way})`,
            performance.now() - startedAt,
            problems,
          )
        }
      })
      await Promise.all(lives)
    }

    return await record.measure(host, options.times, crashAll)
  },
}
