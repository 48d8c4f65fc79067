/**
 * One fault, once: a real host, a real server, the fault, what came of it, and the end of all of it.
 *
 * Never rejects for what the plugin did: every deviation from the expectation is a problem in words, and the first
 * one does not hide the next.
 */

import * as mcpClient from '@deepseek-ai/dsh-mcp-client'
import { eventually, startHost, type McpStatus, type TestHost } from '@dsh-mcp/host'
import { EntryMark } from './processes.ts'
import type { Random } from './random.ts'
import type { Expectation, Fault, FaultyServer } from './faults/types.ts'

/** The configured name of every server here. */
export const SERVER_NAME = 'zoo'

/** A bound for what never comes, in ms. Not a measurement: a busy machine is slow. */
const PATIENCE_MS = 60_000

/** What came of one injection. */
export interface Outcome {
  /** Deviations from the expectation; none when all went as it should. */
  readonly problems: readonly string[]
  /** From the fault to where the entry stands in the end, in ms. */
  readonly recoveryMs: number
}

/** Everything about the tools of a host that a model sees. */
export function catalog(host: TestHost): string {
  return JSON.stringify(host.schemas())
}

/** How many listeners there are on the Cordis bus. */
export function busListeners(host: TestHost): number {
  return Object.values(host.ctx.events._hooks).reduce((sum, hooks) => sum + hooks.length, 0)
}

/** Everything that a host, an entry and a server went through. */
class Injection {
  readonly problems: string[] = []
  readonly #host: TestHost
  readonly #expect: Expectation
  /** How many statuses there were when the fault was about to happen. */
  #before = 0

  constructor(host: TestHost, expect: Expectation) {
    this.#host = host
    this.#expect = expect
  }

  problem(text: string): void {
    this.problems.push(text)
  }

  /** The statuses since the fault. */
  get statuses(): McpStatus[] {
    return this.#host.statuses.all(SERVER_NAME).slice(this.#before)
  }

  /** What comes from here on came of the fault. Returns the time, in ms. */
  begin(): number {
    this.#before = this.#host.statuses.all(SERVER_NAME).length
    return performance.now()
  }

  /** Wait until the entry stands where it has to. */
  async waitFor(kind: McpStatus['status']): Promise<void> {
    await this.#wait(kind, (status) => status.status === kind)
  }

  /** Wait until the entry is not connected, or was not since the fault. */
  async waitForLoss(): Promise<void> {
    if (this.statuses.some(({ status }) => status !== 'connected')) return
    await this.#wait('a loss of the connection', ({ status }) => status !== 'connected')
  }

  /** Wait until there are as many tools as there have to be; if that is never, it is told later. */
  async waitForTools(): Promise<void> {
    const { tools } = this.#expect
    if (tools === undefined) return
    const isReached = () => {
      if (this.#host.toolNames().length !== tools) throw new Error('not yet')
    }
    await eventually(isReached, PATIENCE_MS).catch(() => {})
  }

  async #wait(what: string, isReached: (status: McpStatus) => boolean): Promise<void> {
    try {
      await this.#host.status(SERVER_NAME, isReached, { timeout: PATIENCE_MS })
    } catch {
      const seen = this.statuses.map(({ status, error }) =>
        error === undefined ? status : `${status} (${error})`,
      )
      this.problem(`${what} never came; there was: ${seen.join(', ') || 'nothing'}`)
    }
  }

  async call(signal: AbortSignal): Promise<void> {
    const { answer, refusal } = this.#expect
    const host = this.#host
    const tool =
      host.toolNames().find((name) => name.endsWith('__strike')) ??
      mcpClient.publicToolName(SERVER_NAME, 'echo')
    const result = await host.call(tool, { message: 'hello' }, { signal })
    const text = excerpt(host.text(result))
    const wanted = result.isError ? refusal : answer
    const outcome = `the call ${result.isError ? 'failed' : 'succeeded'} with ${shorten(text)}`
    if (wanted === undefined) this.problem(`${outcome}, and it should not have`)
    else if (!wanted.test(text)) this.problem(`${outcome}, which is not ${String(wanted)}`)
  }

  async callNext(signal: AbortSignal): Promise<void> {
    const message = `still here ${this.#before}`
    const name = mcpClient.publicToolName(SERVER_NAME, 'echo')
    const result = await this.#host.call(name, { message }, { signal })
    const text = this.#host.text(result)
    if (result.isError || text !== message) this.problem(`the next call gave ${shorten(text)}`)
  }

  /** @param before - the tools before the fault, or `undefined` when it is met by connecting. */
  verify(before: string | undefined): void {
    const { ends, isLost, error, log, tools: wanted } = this.#expect
    const host = this.#host
    if (before !== undefined && isLost === undefined) {
      for (const { status, error: why } of this.statuses) {
        if (status !== 'connected') this.problem(`the connection was lost: ${status} ${why ?? ''}`)
      }
    }
    if (
      error !== undefined &&
      !host.statuses.all(SERVER_NAME).some((status) => error.test(status.error ?? ''))
    ) {
      const said = host.statuses.all(SERVER_NAME).map((status) => status.error ?? status.status)
      this.problem(`no status says ${String(error)}; they say: ${shorten([...new Set(said)].join(' | '))}`)
    }
    const lines = host.logs.entries.filter(({ level }) => level !== 'debug')
    if (log !== undefined && !lines.some(({ text }) => log.test(text))) {
      this.problem(
        `no line of the log says ${String(log)}; it says: ${shorten(lines.map(({ text }) => text).join(' | '))}`,
      )
    }
    const count = host.toolNames().length
    const expected = wanted ?? (ends === 'connected' ? undefined : 0)
    if (expected !== undefined && count !== expected)
      this.problem(`there are ${count} tools instead of ${expected}`)
    if (expected === undefined && before !== undefined && catalog(host) !== before) {
      this.problem(`the tools are not those of before: ${shorten(host.toolNames().join(', '))}`)
    }
  }
}

/** A text as an expectation can be matched with it: a regular expression cannot count to millions. */
function excerpt(text: string): string {
  return text.length > 10_000 ? `${text.slice(0, 100)}… (${text.length} characters)` : text
}

function shorten(text: string): string {
  const line = JSON.stringify(text)
  return line.length > 700 ? `${line.slice(0, 700)}… (${line.length} characters)` : line
}

/**
 * Make a fault happen once.
 *
 * @param signal - the caller's cancellation for every call; nothing may stay attached to it.
 */
export async function inject(fault: Fault, random: Random, signal: AbortSignal): Promise<Outcome> {
  await using host = await startHost()
  const injection = new Injection(host, fault.expect)
  const mark = new EntryMark()
  const server = await fault.serve(random)
  let recoveryMs = 0
  try {
    recoveryMs = await run(fault, host, injection, server, mark, signal)
  } catch (error) {
    injection.problem(
      `it could not be gone through with: ${String(error instanceof Error ? error.stack : error)}`,
    )
  } finally {
    await server.close?.()
  }
  return { problems: injection.problems, recoveryMs }
}

async function run(
  fault: Fault,
  host: TestHost,
  injection: Injection,
  server: FaultyServer,
  mark: EntryMark,
  signal: AbortSignal,
): Promise<number> {
  const { ends, isLost, staysBroken } = fault.expect
  const listenersBefore = busListeners(host)
  const entry = host.ctx.plugin(mcpClient, entryConfig(server, mark))
  let startedAt = performance.now()
  let before: string | undefined
  if (fault.meets !== 'start') {
    await injection.waitFor('connected')
    before = catalog(host)
    startedAt = injection.begin()
    await server.arm?.()
    if (fault.meets === 'call') await injection.call(signal)
    if (isLost) await injection.waitForLoss()
    await server.repair?.()
  }
  await injection.waitFor(ends)
  await injection.waitForTools()
  const recoveryMs = performance.now() - startedAt
  if (ends === 'connected' && staysBroken === undefined) await injection.callNext(signal)
  injection.verify(before)
  for (const problem of (await server.check?.(host)) ?? []) injection.problem(problem)
  const trees = new Set(mark.processes().map(({ tree }) => tree))
  if (trees.size > 1 || trees.has(''))
    injection.problem('processes of more than one connection are there at once')
  await entry.dispose()
  for (const { pid, command } of mark.processes())
    injection.problem(`process ${pid} outlived the entry: ${command}`)
  if (host.toolNames().length > 0) injection.problem('tools outlived the entry')
  const left = busListeners(host) - listenersBefore
  if (left !== 0) injection.problem(`${left} listeners on the bus outlived the entry`)
  return recoveryMs
}

function entryConfig({ config }: FaultyServer, mark: EntryMark): mcpClient.StdioConfig {
  const isLocal = config.transport === 'stdio'
  return {
    serverName: SERVER_NAME,
    livenessIntervalMs: 0,
    // Short delays, and no connection lasts long enough to start the count of attempts anew.
    reconnect: { initialDelayMs: 5, maxDelayMs: 60_000, maxAttempts: 2 },
    ...config,
    ...(isLocal && { env: { ...config.env, ...mark.env } }),
  } as mcpClient.StdioConfig
}
