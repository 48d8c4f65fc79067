/**
 * Entries that are disposed, ten at a time, whatever their servers do and wherever they are in their lives. When
 * the disposal settles, no process and no tool is left, and a call that was running has failed.
 */

import type { Fiber } from '@deepseek-ai/cordis'
import * as mcpClient from '@deepseek-ai/dsh-mcp-client'
import { fixtureCommand, startHttpFixture, type HttpFixtureOptions } from '@dsh-mcp/fixtures'
import { eventually, startHost, type TestHost } from '@dsh-mcp/host'
import { setTimeout as delay } from 'node:timers/promises'
import { EntryMark } from '../processes.ts'
import type { Random } from '../random.ts'
import { Record } from './record.ts'
import type { Campaign, CampaignOptions } from './types.ts'

/** How many entries are there at once. */
const BATCH = 10

/** How long a disposal may take, in ms: twice the sum of the plugin's own bounds, for a machine that is busy. */
const DISPOSAL_BOUND_MS = 10_000

/** A bound for what never comes, in ms. */
const PATIENCE_MS = 60_000

/** Where an entry is when it is disposed. */
type State = 'connecting' | 'connected' | 'in call' | 'in sync' | 'backoff' | 'failed'

/** A server, started for one disposal. */
interface Subject {
  readonly config: object
  /** The tool whose call does not end. Default `hold`. */
  readonly holdingTool?: string
  /** Makes a sync begin that does not end. */
  sync?(): Promise<void>
  close?(): Promise<void>
}

/** A kind of server and the states that it can be disposed in. */
interface Kind {
  readonly name: string
  readonly states: readonly State[]
  start(state: State): Subject | Promise<Subject>
}

const LIVELY: readonly State[] = ['connecting', 'connected', 'in call']
/** Long enough that no further attempt comes. */
const WAITING = { reconnect: { initialDelayMs: 60_000, maxDelayMs: 60_000 } }
const GIVING_UP = { reconnect: { maxAttempts: 1 } }

function program(name: string, states: readonly State[], more: object = {}, holdingTool = 'hold'): Kind {
  const start = () => ({ config: { transport: 'stdio', ...fixtureCommand(name), ...more }, holdingTool })
  return { name, states, start }
}

function shell(): Kind {
  const { command, args } = fixtureCommand('zoo/well-behaved')
  const config = {
    transport: 'stdio',
    command: 'sh',
    args: ['-c', 'sleep 600 & "$0" "$@"', command, ...args],
  }
  return { name: 'sh -c "helper & server"', states: LIVELY, start: () => ({ config }) }
}

function http(name: string, options: HttpFixtureOptions, states: readonly State[]): Kind {
  async function start(): Promise<Subject> {
    const fixture = await startHttpFixture(options)
    let release: (() => void) | undefined
    return {
      config: { transport: 'streamable-http', url: fixture.url },
      sync: async () => {
        release = fixture.toolbox.holdRequests('tools/list')
        const before = fixture.toolbox.listRequests
        fixture.notifyListChanged()
        // A sync that was already running does as well, and asks for nothing more.
        await eventually(() => {
          if (fixture.toolbox.listRequests === before) throw new Error('the list is not asked for yet')
        }, 1000).catch(() => {})
      },
      close: async () => {
        release?.()
        fixture.toolbox.release()
        await fixture[Symbol.asyncDispose]()
      },
    }
  }
  return { name, states, start }
}

const KINDS: readonly Kind[] = [
  program('zoo/well-behaved', LIVELY),
  program('zoo/ignores-sigterm', LIVELY),
  program('zoo/ignores-stdin-end', LIVELY),
  program('zoo/helper-holds-pipes', LIVELY),
  program('zoo/helper-in-own-session', LIVELY),
  program('zoo/helper-comes-back', LIVELY),
  program('zoo/wrapper', LIVELY),
  shell(),
  program('zoo/freezes', ['in call'], {}, 'strike'),
  program('zoo/stops-reading', ['in call'], {}, 'strike'),
  program('zoo/floods-stderr', ['in call'], {}, 'strike'),
  program('zoo/closes-stdout', ['in call'], {}, 'strike'),
  program('zoo/slow-pages', ['in sync']),
  program('zoo/endless-pages', ['connecting']),
  program('zoo/crash-after-connect', ['backoff'], WAITING),
  program('exits-at-once', ['backoff', 'connecting'], WAITING),
  program('exits-at-once', ['failed'], GIVING_UP),
  program('never-answers', ['connecting']),
  http('legacy HTTP', { era: 'legacy' }, [...LIVELY, 'in sync']),
  http('modern HTTP', { era: 'modern' }, [...LIVELY, 'in sync']),
  http('HTTP that never answers', { intercept: () => 'hang' }, ['connecting']),
  http(
    'HTTP whose sessions do not end',
    { era: 'legacy', intercept: ({ method }) => (method === 'DELETE' ? 'hang' : undefined) },
    ['connected', 'in call'],
  ),
]

/** One entry on its way to its disposal. */
class Candidate {
  readonly serverName: string
  readonly #host: TestHost
  readonly #mark = new EntryMark()
  readonly #subject: Subject
  readonly #fiber: Fiber
  #call: Promise<{ isError?: boolean }> | undefined

  constructor(host: TestHost, serverName: string, subject: Subject) {
    this.#host = host
    this.#subject = subject
    this.serverName = serverName
    const config: { transport?: string; env?: object } = subject.config
    this.#fiber = host.ctx.plugin(mcpClient, {
      serverName,
      ...config,
      ...(config.transport === 'stdio' && { env: { ...config.env, ...this.#mark.env } }),
    } as unknown as mcpClient.StdioConfig)
  }

  async reach(state: State, random: Random, signal: AbortSignal): Promise<void> {
    switch (state) {
      case 'connecting':
        await delay(random.below(250))
        return
      case 'backoff':
        await this.#status('reconnecting')
        return
      case 'failed':
        await this.#status('failed')
        return
      case 'connected':
      case 'in call':
      case 'in sync':
    }
    await this.#status('connected')
    if (state === 'connected') return
    const { holdingTool = 'hold', sync } = this.#subject
    if (state === 'in call') this.#call = this.#start(holdingTool, signal)
    else if (sync !== undefined) await sync()
    else await this.#start('strike', signal)
    await delay(random.below(50))
  }

  /** Dispose it. Returns what is wrong then, and how long that took, in ms. */
  async dispose(): Promise<{ ms: number; problems: string[] }> {
    const startedAt = performance.now()
    await this.#fiber.dispose()
    const ms = performance.now() - startedAt
    const problems = this.#mark.processes().map(({ pid, command }) => `process ${pid} is left: ${command}`)
    const prefix = mcpClient.publicToolName(this.serverName, '')
    if (this.#host.toolNames().some((name) => name.startsWith(prefix))) problems.push('tools are left')
    if (this.#call !== undefined && (await this.#call).isError !== true)
      problems.push('the call that was running succeeded')
    const last = this.#host.statuses.latest(this.serverName)?.status
    if (last !== undefined && last !== 'disposed') problems.push(`its last status is ${last}`)
    if (ms > DISPOSAL_BOUND_MS) problems.push(`it took ${Math.round(ms)} ms`)
    return { ms, problems }
  }

  async close(): Promise<void> {
    await this.#subject.close?.()
  }

  async #status(kind: 'connected' | 'reconnecting' | 'failed'): Promise<void> {
    await this.#host.status(this.serverName, kind, { timeout: PATIENCE_MS })
  }

  #start(tool: string, signal: AbortSignal): Promise<{ isError?: boolean }> {
    return this.#host.call(mcpClient.publicToolName(this.serverName, tool), {}, { signal })
  }
}

/** Dispose, and leave nothing. */
export const disposals: Campaign = {
  name: 'disposals',
  does: 'are disposed in every state, ten at a time',
  defaultTimes: 200,
  async run(options: CampaignOptions) {
    await using host = await startHost({ logLevel: 0 })
    const record = new Record(options)
    let entries = 0

    async function disposeOne(random: Random): Promise<void> {
      const kind = random.pick(KINDS)
      const state = random.pick(kind.states)
      const candidate = new Candidate(host, `zoo-${entries++}`, await kind.start(state))
      const what = `${kind.name} (${state})`
      try {
        await candidate.reach(state, random, options.signal)
        const { ms, problems } = await candidate.dispose()
        record.add(what, ms, problems)
      } catch (error) {
        record.add(what, 0, [String(error)])
      } finally {
        await candidate.dispose()
        await candidate.close()
      }
    }

    async function disposeAll(times: number): Promise<void> {
      for (let left = times; left > 0; left -= BATCH) {
        const sources = Array.from({ length: Math.min(left, BATCH) }, () => options.random.fork())
        await Promise.all(sources.map(disposeOne))
        host.statuses.clear()
      }
    }

    return await record.measure(host, options.times, disposeAll)
  },
}
