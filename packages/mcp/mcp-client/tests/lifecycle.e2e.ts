import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { readJournal, standardTools, startedPids, type FixtureTool, type JsonObject } from '@dsh-mcp/fixtures'
import { isAlive, trackTimers, type TestHost } from '@dsh-mcp/host'
import ToolRuntime from '@deepseek-ai/dsh-tools'
import { describe, expect, it } from 'vitest'
import * as mcpClient from '../src/index.ts'
import { MAX_SCHEMA_DEPTH } from '../src/tools/model-schema.ts'
import {
  eventually,
  fixtureConfig,
  gone,
  host,
  mount,
  nothingLeft,
  scriptConfig,
  temporaryFolder,
  turns,
} from './support.ts'

const ERAS = ['legacy', 'modern'] as const
const VERSIONS = { legacy: '2025-11-25', modern: '2026-07-28' }
const FAR = 3_600_000

/** Waits that never end within a test. */
const patient = { initialDelayMs: FAR, maxDelayMs: FAR }

const journalFile = () => join(temporaryFolder(), 'journal')
const tool = (name: string, description = name): FixtureTool => ({
  name,
  description,
  inputSchema: { type: 'object' },
})

const methods = (journal: string) =>
  readJournal(journal).flatMap((entry) => (entry.event === 'message' ? [entry.message.method] : []))

async function pidOf(at: TestHost, serverName = 'one'): Promise<number> {
  return Number(at.text(await at.call(`mcp__${serverName}__pid`)))
}

/** Crash the server, and wait until the entry has noticed. */
async function crash(at: TestHost): Promise<void> {
  process.kill(await pidOf(at), 'SIGKILL')
  await at.status('one', ({ status }) => status !== 'connected')
}

/** A server that starts while a file is there, and fails with a reason when it is not. */
function switched() {
  const on = join(temporaryFolder(), 'on')
  writeFileSync(on, '')
  const server = pathToFileURL(
    join(import.meta.dirname, '../../../test-support/fixtures/src/servers/legacy.ts'),
  ).href
  const script = `if (require('fs').existsSync(${JSON.stringify(on)})) { process.argv.splice(1, 0, 'it'); import(${JSON.stringify(server)}) }
    else { console.error('Error: the database is gone'); process.exit(1) }`
  return { on, config: scriptConfig(script) }
}

describe.each(ERAS)('a %s server', (era) => {
  it('is connected with one process, its tools are there, and every step is told', async () => {
    const at = await host()
    const journal = journalFile()
    await mount(at, fixtureConfig(era, { journal, serverInfo: { name: 'n', version: 'v', title: 't' } }))
    expect(startedPids(journal)).toHaveLength(1)
    expect(at.toolNames()).toHaveLength(standardTools.length)
    expect(at.statuses.all()).toEqual([
      { serverName: 'one', status: 'connecting', toolCount: 0, attempt: 1 },
      { serverName: 'one', status: 'connecting', toolCount: standardTools.length, attempt: 1 },
      {
        serverName: 'one',
        status: 'connected',
        toolCount: standardTools.length,
        protocolVersion: VERSIONS[era],
        serverInfo: { name: 'n', version: 'v', title: 't' },
      },
    ])
    expect(at.logs.find({ level: 'info', text: 'mcp-client(one): connected to n v' })).toHaveLength(1)
    expect(at.logs.find({ level: 'warn' })).toEqual([])
    expect(at.text(await at.call('mcp__one__echo', { message: 'hi' }))).toBe('hi')
  })

  it('that crashes comes back with the same registrations, names and order', async () => {
    const at = await host()
    await mount(at, fixtureConfig(era))
    const [names, schemas, changes] = [at.toolNames(), JSON.stringify(at.schemas()), at.toolChanges]
    const pid = await pidOf(at)
    await at.call('mcp__one__crash', { code: 9 })
    await at.status('one', 'connected')
    expect(await pidOf(at)).not.toBe(pid)
    expect(at.toolChanges).toBe(changes)
    expect(at.toolNames()).toEqual(names)
    expect(JSON.stringify(at.schemas())).toBe(schemas)
    const kinds = at.statuses.kinds('one')
    expect(kinds.slice(kinds.indexOf('connected'))).toEqual([
      'connected',
      'reconnecting',
      'connecting',
      'connecting',
      'connected',
    ])
    expect(at.statuses.all().find(({ status }) => status === 'reconnecting')).toMatchObject({
      error: 'the server process exited with code 9',
      attempt: 2,
      nextAttemptAt: expect.any(Number),
      toolCount: standardTools.length,
    })
  })

  it('changes its list: exactly what changed is registered, replaced and removed', async () => {
    const at = await host()
    await mount(at, fixtureConfig(era, { extraTools: [tool('a'), tool('b')] }))
    const changes = at.toolChanges
    await at.call('mcp__one__set_tools', { add: [tool('c'), tool('b', 'changed')], remove: ['a'] })
    await eventually(() => expect(at.toolNames()).toContain('mcp__one__c'))
    expect(at.toolNames()).not.toContain('mcp__one__a')
    expect(at.schemas().find(({ name }) => name === 'mcp__one__b')).toMatchObject({ description: 'changed' })
    // Added: one change. Replaced: two. Removed: one.
    expect(at.toolChanges - changes).toBe(4)
    await at.status(
      'one',
      ({ status, toolCount }) => status === 'connected' && toolCount === standardTools.length + 2,
    )
    await at.status('one', 'connected', { during: () => at.call('mcp__one__notify', { count: 1 }) })
    expect(at.toolChanges - changes).toBe(4)
  })

  it('announces 10,000 changes at once: at most two further lists', async () => {
    const at = await host()
    const journal = journalFile()
    await mount(at, fixtureConfig(era, { journal }))
    const lists = () => methods(journal).filter((method) => method === 'tools/list').length
    const before = lists()
    await at.call('mcp__one__notify', { count: 10_000 })
    await at.call('mcp__one__set_tools', { add: [tool('last')] })
    await eventually(() => expect(at.toolNames()).toContain('mcp__one__last'))
    await at.call('mcp__one__echo', { message: 'settled' })
    expect(lists() - before).toBeLessThanOrEqual(3)
  })

  it('lists its tools in pages', async () => {
    const at = await host()
    await mount(at, fixtureConfig(era, { pageSize: 7 }))
    expect(at.toolNames()).toHaveLength(standardTools.length)
  })

  it('without the tools capability is connected without tools', async () => {
    const at = await host()
    await mount(at, fixtureConfig(era, { noTools: true }))
    expect(at.statuses.latest('one')).toMatchObject({ status: 'connected', toolCount: 0 })
    expect(at.toolNames()).toEqual([])
  })

  it('is disposed of without a trace', async () => {
    using timers = trackTimers()
    const at = await host()
    const fiber = await mount(at, fixtureConfig(era))
    const pid = await pidOf(at)
    await fiber.dispose()
    expect(isAlive(pid)).toBe(false)
    expect(at.toolNames()).toEqual([])
    expect(at.statuses.latest('one')).toEqual({ serverName: 'one', status: 'disposed', toolCount: 0 })
    await at.dispose()
    await nothingLeft(at)
    expect(await timers.live()).toEqual([])
  })
})

describe('a legacy server that knows nothing of the modern protocol', () => {
  it('and never answers an offer of it is connected all the same, with one process', async () => {
    const at = await host()
    const journal = journalFile()
    await mount(at, fixtureConfig('silent-probe', { journal }))
    expect(at.statuses.latest('one')).toMatchObject({ status: 'connected', protocolVersion: VERSIONS.legacy })
    expect(startedPids(journal)).toHaveLength(1)
    expect(methods(journal).slice(0, 2)).toEqual(['server/discover', 'initialize'])
  })

  it('and is slow to start is waited for', async () => {
    const at = await host()
    const journal = journalFile()
    await mount(at, fixtureConfig('legacy', { journal, delayStartMs: 6000 }))
    expect(at.statuses.latest('one')).toMatchObject({ status: 'connected', protocolVersion: VERSIONS.legacy })
    expect(startedPids(journal)).toHaveLength(1)
  })

  it('and exits at an offer of it is connected within the same attempt, and not offered it again', async () => {
    const at = await host()
    const journal = journalFile()
    await mount(at, fixtureConfig('exit-on-probe', { journal }))
    expect(at.statuses.kinds('one')).toEqual(['connecting', 'connecting', 'connected'])
    const pids = startedPids(journal)
    expect(pids).toHaveLength(2)
    expect(pids.map(isAlive)).toEqual([false, true])
    await crash(at)
    await at.status('one', 'connected')
    expect(startedPids(journal)).toHaveLength(3)
    expect(methods(journal).filter((method) => method === 'server/discover')).toHaveLength(1)
  })
})

describe('a first connection that fails', () => {
  const missing = (more = {}) => fixtureConfig('exits-at-once', {}, { reconnect: patient, ...more })

  it('leaves the plugin active, with the reason in the status, the log and every call', async () => {
    const at = await host()
    await mount(at, missing())
    const error =
      'the server process exited with code 1 while connecting; it wrote: Error: FIXTURE_TOKEN is not set'
    expect(at.statuses.all()).toEqual([
      { serverName: 'one', status: 'connecting', toolCount: 0, attempt: 1 },
      {
        serverName: 'one',
        status: 'reconnecting',
        toolCount: 0,
        error,
        attempt: 2,
        nextAttemptAt: expect.any(Number),
      },
    ])
    const { nextAttemptAt = 0 } = at.statuses.latest('one')!
    expect(nextAttemptAt).toBeGreaterThan(Date.now() + FAR - 600_000)
    const logged = at.logs.find({ level: 'error', text: `mcp-client(one): ${error}; attempt 2 of 10 in ` })
    expect(logged).toHaveLength(1)
    expect(
      at.logs.find({ level: 'info', text: 'its last output on standard error:\nstarting\nError' }),
    ).toHaveLength(1)
    expect(at.logs.find({ level: 'debug', text: 'stderr: Error: FIXTURE_TOKEN is not set' })).not.toEqual([])
  })

  it('is made up for by a later attempt', async () => {
    const at = await host()
    const { on, config } = switched()
    rmSync(on)
    await mount(at, config)
    writeFileSync(on, '')
    await at.status('one', 'connected')
    expect(at.toolNames()).toContain('mcp__one__echo')
  })

  it('fails the activation where that is asked for; nothing is left, and the name is free', async () => {
    const at = await host()
    await expect(mount(at, missing({ failOnStartupError: true }))).rejects.toThrow('FIXTURE_TOKEN is not set')
    expect(at.statuses.kinds('one')).toEqual(['connecting', 'failed', 'failed', 'disposed', 'disposed'])
    expect(at.toolNames()).toEqual([])
    expect(at.toolChanges).toBe(0)
    await mount(at, fixtureConfig('legacy', {}, { failOnStartupError: true }))
    expect(at.statuses.latest('one')?.status).toBe('connected')
  })

  it('fails the activation when the tools cannot be listed, too', async () => {
    const at = await host()
    await expect(mount(at, fixtureConfig('bad-list', {}, { failOnStartupError: true }))).rejects.toThrow(
      'while the tools were listed',
    )
    await expect(
      mount(at, fixtureConfig('duplicate-tools', {}, { failOnStartupError: true })),
    ).rejects.toThrow(
      'the server lists the tool "echo" twice, so its list is invalid while the tools were listed',
    )
    expect(at.toolNames()).toEqual([])
  })

  it('is the last where reconnection is off', async () => {
    const at = await host()
    await mount(at, missing({ reconnect: { enabled: false } }))
    expect(at.statuses.kinds('one')).toEqual(['connecting', 'failed'])
    expect(at.logs.find({ level: 'error', text: 'giving up until the entry is reloaded' })).toHaveLength(1)
  })
})

describe('an outage', () => {
  it('fails calls at once, and says why and when the next attempt is', async () => {
    const at = await host()
    await mount(at, fixtureConfig('legacy', {}, { reconnect: patient }))
    await crash(at)
    const result = await at.call('mcp__one__echo', { message: 'hi' })
    expect(result.isError).toBe(true)
    expect(at.text(result)).toMatch(
      /^(?:Error: )?The call was not sent: MCP server "one" is not connected: the server process was ended by SIGKILL\. The next connection attempt \(2 of 10\) starts in about \d+ s; try again after that, or go on without it\.$/u,
    )
  })

  it('fails the calls that are running with the reason', async () => {
    const at = await host()
    await mount(at, fixtureConfig('legacy', {}, { reconnect: patient }))
    const pid = await pidOf(at)
    const held = at.call('mcp__one__hold')
    await at.call('mcp__one__echo', { message: 'after it' })
    process.kill(pid, 'SIGKILL')
    const result = await held
    expect(result.isError).toBe(true)
    expect(at.text(result)).toContain('the server process was ended by SIGKILL')
    expect(at.text(result)).toContain('Whether the call took effect is unknown')
  })

  it('that lasts too long takes the tools away, and that is told twice', async () => {
    const at = await host()
    const { on, config } = switched()
    await mount(at, { ...config, reconnect: { initialDelayMs: 1, maxDelayMs: 1, maxAttempts: 2 } })
    rmSync(on)
    await crash(at)
    await at.status('one', ({ status, toolCount }) => status === 'failed' && toolCount === 0)
    const statuses = at.statuses.all()
    expect(statuses.slice(-2)).toEqual([
      {
        serverName: 'one',
        status: 'failed',
        toolCount: standardTools.length,
        error: expect.stringContaining('the database is gone'),
      },
      {
        serverName: 'one',
        status: 'failed',
        toolCount: 0,
        error: expect.stringContaining('the database is gone'),
      },
    ])
    expect(at.toolNames()).toEqual([])
    expect(at.text(await at.call('mcp__one__echo'))).toContain('mcp__one__echo')
    const { length } = at.statuses.all()
    writeFileSync(on, '')
    await turns(10)
    expect(at.statuses.all()).toHaveLength(length)
  })

  it('leaves the tools listed and failing where reconnection is off', async () => {
    const at = await host()
    await mount(at, fixtureConfig('legacy', {}, { reconnect: { enabled: false } }))
    await crash(at)
    expect(at.statuses.latest('one')).toMatchObject({ status: 'failed', toolCount: standardTools.length })
    expect(at.toolNames()).toHaveLength(standardTools.length)
    expect(at.text(await at.call('mcp__one__echo', { message: 'hi' }))).toContain(
      'no further attempt will be made: the server process was ended by SIGKILL',
    )
  })

  it('is over with the tools that the server lists then', async () => {
    const at = await host()
    const options = join(temporaryFolder(), 'options')
    writeFileSync(options, JSON.stringify({ extraTools: [tool('old')] }))
    const config = fixtureConfig('legacy')
    config.args = [config.args![0]!, '--options-file', options]
    await mount(at, config)
    expect(at.toolNames()).toContain('mcp__one__old')
    writeFileSync(options, JSON.stringify({ extraTools: [tool('new')] }))
    await crash(at)
    await at.status('one', 'connected')
    expect(at.toolNames()).toContain('mcp__one__new')
    expect(at.toolNames()).not.toContain('mcp__one__old')
  })

  it('goes on when the new list cannot be taken over; the old one stands meanwhile', async () => {
    const at = await host()
    const options = join(temporaryFolder(), 'options')
    writeFileSync(options, '{}')
    const config = fixtureConfig('legacy')
    config.args = [config.args![0]!, '--options-file', options]
    await mount(at, config)
    writeFileSync(options, JSON.stringify({ failList: true }))
    await crash(at)
    await at.status('one', ({ error }) => error?.includes('while the tools were listed') === true)
    expect(at.toolNames()).toHaveLength(standardTools.length)
    writeFileSync(options, '{}')
    await at.status('one', 'connected')
  })
})

describe('a list that changed', () => {
  it('stands when the new one cannot be fetched', async () => {
    const at = await host()
    await mount(at, fixtureConfig('legacy', { extraTools: [tool('a')] }))
    const names = at.toolNames()
    await at.call('mcp__one__set_tools', { add: [tool('b'), { ...tool('b2'), inputSchema: 'none' }] })
    await eventually(() =>
      expect(at.logs.find({ level: 'warn', text: 'the previous ones stand' })).toHaveLength(1),
    )
    expect(at.toolNames()).toEqual(names)
    expect(at.statuses.latest('one')?.status).toBe('connected')
  })

  it('stands when the connection ends before it is fetched, whatever is waiting to be synced', async () => {
    const at = await host()
    const journal = journalFile()
    await mount(at, fixtureConfig('legacy', { journal, answeredLists: 1 }, { reconnect: patient }))
    const [names, changes] = [at.toolNames(), at.toolChanges]
    const pid = await pidOf(at)
    await at.call('mcp__one__notify', { count: 1 })
    await eventually(() =>
      expect(methods(journal).filter((method) => method === 'tools/list')).toHaveLength(2),
    )
    await at.call('mcp__one__notify', { count: 1 })
    // An announcement that closely follows another is reported after a while; timers run in order.
    await new Promise((resolve) => setTimeout(resolve, 1000))
    process.kill(pid, 'SIGKILL')
    await at.status('one', 'reconnecting')
    await turns(10)
    expect(at.toolNames()).toEqual(names)
    expect(at.toolChanges).toBe(changes)
    expect(at.logs.find({ level: 'warn', text: 'not taken over' })).toEqual([])
  })

  it('has what is wrong with it told once, and not at every sync again', async () => {
    const at = await host()
    let inputSchema: JsonObject = { type: 'object' }
    for (let depth = 0; depth < MAX_SCHEMA_DEPTH; depth++) {
      inputSchema = { type: 'object', properties: { a: inputSchema } }
    }
    await mount(at, fixtureConfig('legacy', { extraTools: [{ name: 'odd', inputSchema }] }))
    await at.status('one', 'connected', { during: () => at.call('mcp__one__notify', { count: 1 }) })
    expect(at.toolNames()).toContain('mcp__one__odd')
    expect(at.logs.find({ level: 'warn', text: 'tool "odd" is nested more than' })).toHaveLength(1)
  })

  it('stands whole when somebody else has one of the new names', async () => {
    const at = await host()
    const changes = [tool('a', 'changed'), tool('taken'), tool('b')]
    await mount(at, fixtureConfig('legacy', { extraTools: [tool('a')] }))
    const [template] = at.schemas()
    const foreign = await at.mount({
      name: 'foreign',
      inject: ['tools'],
      apply: (ctx) =>
        void ctx.tools.register({
          ...template!,
          name: 'mcp__one__taken',
          output: { schema: {}, render: () => [] },
          execute: async () => null,
        }),
    })
    const before = JSON.stringify(at.schemas())
    await at.call('mcp__one__set_tools', { add: changes })
    await eventually(() =>
      expect(at.logs.find({ level: 'warn', text: 'mcp__one__taken' })).not.toHaveLength(0),
    )
    expect(JSON.stringify(at.schemas())).toBe(before)
    await foreign.dispose()
    await at.call('mcp__one__notify')
    await eventually(() => expect(at.toolNames()).toContain('mcp__one__taken'))
    expect(at.toolNames()).toContain('mcp__one__b')
  })
})

describe('dispose', () => {
  it('works in the backoff', async () => {
    const at = await host()
    const fiber = await mount(at, fixtureConfig('exits-at-once', {}, { reconnect: patient }))
    expect(at.statuses.latest('one')?.status).toBe('reconnecting')
    await fiber.dispose()
    expect(at.statuses.kinds('one').slice(-2)).toEqual(['disposed', 'disposed'])
    await at.dispose()
    await nothingLeft(at)
  })

  it('works after the last attempt', async () => {
    const at = await host()
    const fiber = await mount(at, fixtureConfig('exits-at-once', {}, { reconnect: { maxAttempts: 1 } }))
    expect(at.statuses.latest('one')?.status).toBe('failed')
    await fiber.dispose()
    expect(at.statuses.latest('one')?.status).toBe('disposed')
  })

  it('works while a sync waits for the server, and nothing of it is registered', async () => {
    const at = await host()
    const journal = journalFile()
    const fiber = await mount(at, fixtureConfig('legacy', { journal, answeredLists: 1 }))
    const pid = await pidOf(at)
    await at.call('mcp__one__set_tools', { add: [tool('late')] })
    await eventually(() =>
      expect(methods(journal).filter((method) => method === 'tools/list')).toHaveLength(2),
    )
    await fiber.dispose()
    expect(isAlive(pid)).toBe(false)
    expect(at.toolNames()).toEqual([])
    await turns(10)
    expect(at.toolNames()).toEqual([])
    expect(at.statuses.latest('one')).toMatchObject({ status: 'disposed', toolCount: 0 })
  })

  it('works for a call that is running, which fails', async () => {
    const at = await host()
    const fiber = await mount(at, fixtureConfig('legacy'))
    const held = at.call('mcp__one__hold')
    await at.call('mcp__one__echo', { message: 'after it' })
    await fiber.dispose()
    expect(await held).toMatchObject({ isError: true })
  })

  it('works from within a listener of the status', async () => {
    const at = await host()
    const fiber = at.ctx.plugin(mcpClient, fixtureConfig('legacy')).ctx.fiber
    let pid = 0
    at.ctx.on('mcp-client/status', async ({ status }) => {
      if (status !== 'connected') return
      pid = at.leaks().processes[0]?.pid ?? 0
      await fiber.dispose()
    })
    const kinds = ['connecting', 'connecting', 'connected', 'disposed', 'disposed']
    await eventually(() => expect(at.statuses.kinds('one')).toEqual(kinds))
    expect(at.statuses.all('one').slice(3)).toEqual(
      Array.from({ length: 2 }, () => ({ serverName: 'one', status: 'disposed', toolCount: 0 })),
    )
    expect(pid).toBeGreaterThan(0)
    expect(isAlive(pid)).toBe(false)
  })

  it('comes with the end of the tool registry, and the start with the next one', async () => {
    const at = await host()
    await mount(at, fixtureConfig('legacy'))
    const pid = await pidOf(at)
    const registry = [...at.ctx.registry.values()].find(({ callback }) => callback === ToolRuntime)
    await [...registry!.fibers][0]!.restart()
    await at.status('one', 'connecting')
    expect(isAlive(pid)).toBe(false)
    await at.status('one', 'connected')
    expect(at.toolNames()).toHaveLength(standardTools.length)
  })

  it('ends a restart of the plugin, too', async () => {
    const at = await host()
    const fiber = await mount(at, fixtureConfig('legacy'))
    const pid = await pidOf(at)
    await fiber.restart()
    expect(isAlive(pid)).toBe(false)
    expect(at.statuses.latest('one')?.status).toBe('connected')
    const next = await pidOf(at)
    await fiber.dispose()
    await gone(next)
  })
})

describe('several entries', () => {
  it('live side by side, each with its own tools under its own name', async () => {
    const at = await host()
    const start = (serverName: string, era: string) => mount(at, fixtureConfig(era, {}, { serverName }))
    const [two] = await Promise.all([start('two', 'modern'), start('one', 'legacy')])
    expect(at.text(await at.call('mcp__one__echo', { message: 'first' }))).toBe('first')
    expect(at.text(await at.call('mcp__two__echo', { message: 'second' }))).toBe('second')
    await two.dispose()
    expect(at.toolNames().every((name) => name.startsWith('mcp__one__'))).toBe(true)
    expect(at.statuses.latest('one')?.status).toBe('connected')
  })

  it('may have one name in two scopes, where each agent sees its own', async () => {
    const at = await host()
    const [first, second] = [at.scope('first'), at.scope('second')]
    const only = (name: string) => fixtureConfig('legacy', { tools: [tool(name)] })
    await Promise.all([mount(at, only('a'), first.ctx), mount(at, only('b'), second.ctx)])
    expect(at.toolNames(first.key)).toEqual(['mcp__one__a'])
    expect(at.toolNames(second.key)).toEqual(['mcp__one__b'])
    expect(at.toolNames()).toEqual([])
    await first.dispose()
    expect(at.toolNames(second.key)).toEqual(['mcp__one__b'])
  })
})

describe('a listener of the status that fails', () => {
  it('stops neither the entry nor the others', async () => {
    const at = await host()
    at.ctx.on('mcp-client/status', () => {
      throw new Error('a broken observer')
    })
    at.ctx.on('mcp-client/status', () => Promise.reject(new Error('a broken promise')) as unknown as void)
    const fiber = await mount(at, fixtureConfig('legacy'))
    await crash(at)
    await at.status('one', 'connected')
    await fiber.dispose()
    expect(at.statuses.latest('one')?.status).toBe('disposed')
    expect(at.logs.find({ level: 'warn', text: 'a broken observer' }).length).toBeGreaterThan(3)
    expect(at.logs.find({ level: 'warn', text: 'a broken promise' }).length).toBeGreaterThan(3)
  })
})

describe('what a server writes', () => {
  it('beside the protocol is skipped with one warning, and what it logs goes to the log', async () => {
    const at = await host()
    const { config } = switched()
    const noisy = `console.log('Server started on port 3000'); console.error('debug: ' + process.env.A_TOKEN);`
    config.args![1] = noisy + config.args![1]!
    await mount(at, { ...config, env: { A_TOKEN: 'hunter22' } })
    expect(at.statuses.latest('one')?.status).toBe('connected')
    const warnings = at.logs.find({ level: 'warn', name: 'mcp-client' })
    expect(warnings).toEqual([
      expect.objectContaining({
        text: 'mcp-client(one): the server wrote to standard output what is not protocol, and it was skipped: "Server started on port 3000" (its author should write logs to standard error)',
      }),
    ])
    await eventually(() =>
      expect(at.logs.find({ level: 'debug', text: 'stderr: debug: [redacted env.A_TOKEN]' })).toHaveLength(1),
    )
    expect(at.logText()).not.toContain('hunter22')
  })

  it('about itself is shown escaped, in the status and in the log', async () => {
    const at = await host()
    const serverInfo = { name: '\u{1b}[2Jevil\n', version: 'x'.repeat(200), title: '\u{202e}' }
    await mount(at, fixtureConfig('legacy', { serverInfo }))
    const info = at.statuses.latest('one')?.serverInfo
    expect(info).toMatchObject({ name: String.raw`\u{1b}[2Jevil\n`, title: String.raw`\u{202e}` })
    expect(info!.version.length).toBeLessThanOrEqual(40)
    expect(at.logText()).not.toContain('\u{1b}[2J')
  })

  it('about itself may be nothing', async () => {
    const at = await host()
    const result = {
      resultType: 'complete',
      supportedVersions: ['2026-07-28'],
      capabilities: {},
      ttlMs: 0,
      cacheScope: 'private',
    }
    const script = `require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id } = JSON.parse(line)
      console.log(JSON.stringify({ jsonrpc: '2.0', id, result: ${JSON.stringify(result)} }))
    }).on('close', () => process.exit(0))`
    await mount(at, scriptConfig(script))
    expect(at.statuses.latest('one')).toEqual({
      serverName: 'one',
      status: 'connected',
      toolCount: 0,
      protocolVersion: VERSIONS.modern,
    })
    expect(at.logs.find({ level: 'info', text: 'connected to a server without a name' })).toHaveLength(1)
  })

  it('over the limit ends the connection with a clear reason', async () => {
    const at = await host()
    await mount(at, fixtureConfig('legacy', {}, { maxMessageBytes: 65_536, reconnect: patient }))
    const result = await at.call('mcp__one__big', { bytes: 100_000 })
    expect(at.text(result)).toContain('the server sent a message of more than 65536 bytes (maxMessageBytes)')
    expect(at.statuses.latest('one')).toMatchObject({
      status: 'reconnecting',
      error: 'the server sent a message of more than 65536 bytes (maxMessageBytes)',
    })
  })
})

it('a value that is not there is left out, with a warning that names it', async () => {
  const at = await host()
  await mount(at, fixtureConfig('legacy', {}, { env: { A_TOKEN: undefined, B_TOKEN: null, C: 'there' } }))
  expect(at.logs.find({ level: 'warn' }).map(({ text }) => text)).toEqual([
    'mcp-client(one): env.A_TOKEN has no value, so it is left out',
    'mcp-client(one): env.B_TOKEN has no value, so it is left out',
  ])
  const { value } = (await at.call('mcp__one__env')) as unknown as {
    value: { structuredContent: Record<string, string> }
  }
  expect(value.structuredContent).toMatchObject({ C: 'there' })
  expect(value.structuredContent).not.toHaveProperty('A_TOKEN')
})
