import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { startedPids } from '@dsh-mcp/fixtures'
import type { Context } from '@deepseek-ai/cordis'
import ToolRuntime from '@deepseek-ai/dsh-tools'
import {
  isAlive,
  mountComposition,
  type Composition,
  type CompositionRow,
  type TestHost,
} from '@dsh-mcp/host'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { StdioConfig } from '../src/index.ts'
import * as mcpClient from '../src/index.ts'
import { eventually, fixtureConfig, gone, host, scriptConfig, temporaryFolder, turns } from './support.ts'

const plugin = new URL('../src/index.ts', import.meta.url).href
const row = (config: object, more: Partial<CompositionRow> = {}): CompositionRow => ({
  id: 'first',
  name: plugin,
  config,
  ...more,
})

async function composition(at: TestHost, ...rows: CompositionRow[]): Promise<Composition> {
  const mounted = await mountComposition(at, rows)
  onTestFinished(() => mounted[Symbol.asyncDispose]())
  return mounted
}

/** A server that answers nothing until a file is there. */
function gatedConfig(gate: string, journal: string, more: Partial<StdioConfig> = {}): StdioConfig {
  const server = pathToFileURL(
    join(import.meta.dirname, '../../../test-support/fixtures/src/servers/legacy.ts'),
  ).href
  const options = JSON.stringify({ journal })
  const wait = `const wait = setInterval(() => {
    if (!require('fs').existsSync(${JSON.stringify(gate)})) return
    clearInterval(wait)
    process.argv.splice(1, 0, 'gated')
    import(${JSON.stringify(server)})
  }, 20)
  require('fs').writeFileSync(${JSON.stringify(`${gate}.pid`)}, String(process.pid))`
  return scriptConfig(wait, ['--options', options], more)
}

/** Start a host with an entry that hangs in its start; settles when its process is there. */
async function hanging() {
  const at = await host()
  const journal = join(temporaryFolder(), 'journal')
  const mounted = await composition(at, row(fixtureConfig('never-answers', { journal })))
  await eventually(() => expect(startedPids(journal)).toHaveLength(1))
  const [pid = 0] = startedPids(journal)
  expect(at.statuses.kinds('one')).toEqual(['connecting'])
  return { at, mounted, pid, journal }
}

describe('a start that hangs', () => {
  it('is cut short by an edit of the entry, which takes effect', async () => {
    const { at, mounted, pid } = await hanging()
    const journal = join(temporaryFolder(), 'journal')
    await mounted.write([row(fixtureConfig('legacy', { journal }))])
    await at.status('one', 'connected')
    expect(isAlive(pid)).toBe(false)
    expect(at.toolNames()).toContain('mcp__one__echo')
    expect(startedPids(journal)).toHaveLength(1)
    expect(at.statuses.kinds('one')).not.toContain('failed')
  })

  it('is cut short by an edit that gives the entry another name', async () => {
    const { at, mounted } = await hanging()
    await mounted.write([row(fixtureConfig('legacy', {}, { serverName: 'two' }))])
    await at.status('two', 'connected')
    expect(at.statuses.latest('one')).toMatchObject({ status: 'disposed', toolCount: 0 })
    expect(at.toolNames()).toContain('mcp__two__echo')
    expect(at.toolNames()).not.toContain('mcp__one__echo')
  })

  it('is cut short by the removal of the entry', async () => {
    const { at, mounted, pid } = await hanging()
    await mounted.write([])
    await at.status('one', 'disposed')
    await gone(pid)
    expect(at.toolNames()).toEqual([])
  })

  it('is cut short by the entry being disabled, which can be undone', async () => {
    const { at, mounted, pid } = await hanging()
    await mounted.write([row(fixtureConfig('legacy'), { disabled: true })])
    await at.status('one', 'disposed')
    await mounted.write([row(fixtureConfig('legacy'))])
    await gone(pid)
    await at.status('one', 'connected')
    expect(at.toolNames()).toContain('mcp__one__echo')
  })

  it('goes on when the file is read again and the entry is the same', async () => {
    const at = await host()
    const folder = temporaryFolder()
    const [gate, journal] = [join(folder, 'gate'), join(folder, 'journal')]
    const first = row(gatedConfig(gate, journal))
    const second = (program: string) =>
      row(fixtureConfig(program, {}, { serverName: 'two' }), { id: 'second' })
    const mounted = await composition(at, first, second('legacy'))
    await at.status('two', 'connected')
    await eventually(() => expect(existsSync(`${gate}.pid`)).toBe(true))
    await mounted.write([first, second('modern')])
    await at.status('two', ({ protocolVersion }) => protocolVersion === '2026-07-28')
    expect(at.statuses.kinds('one')).toEqual(['connecting'])
    writeFileSync(gate, '')
    await at.status('one', 'connected')
    expect(at.statuses.kinds('one')).not.toContain('disposed')
    expect(startedPids(journal)).toEqual([Number(readFileSync(`${gate}.pid`, 'utf8'))])
  })

  it('is cut short by the disposal of the plugin, which waits for the process and not for the server', async () => {
    const at = await host()
    const journal = join(temporaryFolder(), 'journal')
    const fiber = at.ctx.plugin(mcpClient, fixtureConfig('never-answers', { journal }))
    await eventually(() => expect(startedPids(journal)).toHaveLength(1))
    await fiber.dispose()
    expect(startedPids(journal).map(isAlive)).toEqual([false])
    expect(at.statuses.latest('one')).toMatchObject({ status: 'disposed', toolCount: 0 })
    expect(at.leaks().processes).toEqual([])
  })

  it('is cut short by the end of the scope that it was mounted in', async () => {
    const at = await host()
    const scope = at.scope()
    const journal = join(temporaryFolder(), 'journal')
    void scope.ctx.plugin(mcpClient, fixtureConfig('never-answers', { journal }))
    await eventually(() => expect(startedPids(journal)).toHaveLength(1))
    await scope.dispose()
    expect(startedPids(journal).map(isAlive)).toEqual([false])
  })

  it('is cut short by the end of the tool registry, which takes no other entry along for longer', async () => {
    const at = await host()
    const journal = join(temporaryFolder(), 'journal')
    await at.mount(mcpClient, fixtureConfig('legacy', {}, { serverName: 'other' }))
    void at.ctx.plugin(mcpClient, fixtureConfig('never-answers', { journal }))
    await eventually(() => expect(startedPids(journal)).toHaveLength(1))
    const registry = [...at.ctx.registry.values()].find(({ callback }) => callback === ToolRuntime)
    await [...registry!.fibers][0]!.restart()
    await at.status('other', 'connected')
    expect(at.toolNames()).toContain('mcp__other__echo')
    await eventually(() => expect(startedPids(journal)).toHaveLength(2))
    expect(startedPids(journal).map(isAlive)).toEqual([false, true])
  })

  it('is cut short by another value of a service that its configuration is made of', async () => {
    const at = await host()
    const journal = join(temporaryFolder(), 'journal')
    const provide = (command: string) => ({
      name: 'provider',
      apply: (ctx: Context) => void ctx.provide('mcpTestCommand', command),
    })
    const first = await at.mount(provide('first'))
    void at.ctx.plugin(
      { ...mcpClient, inject: ['tools', 'mcpTestCommand'] },
      fixtureConfig('never-answers', { journal }),
    )
    await eventually(() => expect(startedPids(journal)).toHaveLength(1))
    await first.dispose()
    expect(startedPids(journal).map(isAlive)).toEqual([false])
    await at.mount(provide('second'))
    await eventually(() => expect(startedPids(journal)).toHaveLength(2))
  })

  it('is not cut short by a service that comes or goes elsewhere', async () => {
    const at = await host()
    const folder = temporaryFolder()
    const gate = join(folder, 'gate')
    const mounting = at.mount(mcpClient, gatedConfig(gate, join(folder, 'journal')))
    await eventually(() => expect(existsSync(`${gate}.pid`)).toBe(true))
    const provider = await at.mount({
      name: 'provider',
      apply: (ctx: Context) => void ctx.provide('mcpTestOther', 1),
    })
    await provider.dispose()
    await turns()
    writeFileSync(gate, '')
    await mounting
    expect(at.statuses.kinds('one')).not.toContain('disposed')
  })

  it('is not cut short by the end of another plugin', async () => {
    const at = await host()
    const folder = temporaryFolder()
    const gate = join(folder, 'gate')
    const mounting = at.mount(mcpClient, gatedConfig(gate, join(folder, 'journal')))
    await eventually(() => expect(existsSync(`${gate}.pid`)).toBe(true))
    const other = await at.mount({ name: 'other', apply: () => {} })
    await other.dispose()
    await turns()
    expect(at.statuses.kinds('one')).toEqual(['connecting'])
    writeFileSync(gate, '')
    await mounting
    expect(at.statuses.latest('one')?.status).toBe('connected')
  })
})

describe('a configuration that a program changes during the start', () => {
  it('takes effect when the start is over', async () => {
    const at = await host()
    const folder = temporaryFolder()
    const gate = join(folder, 'gate')
    const fiber = at.ctx.plugin(mcpClient, gatedConfig(gate, join(folder, 'journal'))).ctx.fiber
    await eventually(() => expect(existsSync(`${gate}.pid`)).toBe(true))
    fiber.update(fixtureConfig('legacy', {}, { serverName: 'two' }))
    writeFileSync(gate, '')
    await at.status('two', 'connected')
    expect(at.statuses.latest('one')).toMatchObject({ status: 'disposed', toolCount: 0 })
  })

  it('takes effect although the start fails for good', async () => {
    const at = await host()
    const folder = temporaryFolder()
    const gate = join(folder, 'gate')
    const exits = `setInterval(() => { if (require('fs').existsSync(${JSON.stringify(gate)})) process.exit(1) }, 20)`
    const fiber = at.ctx.plugin(mcpClient, scriptConfig(exits, [], { failOnStartupError: true })).ctx.fiber
    await at.status('one', 'connecting')
    fiber.update(fixtureConfig('legacy', {}, { serverName: 'two' }))
    writeFileSync(gate, '')
    await at.status('two', 'connected')
    await fiber.await()
    expect(at.statuses.kinds('one')).toContain('failed')
  })

  it('fails the plugin when it cannot be used, without an unhandled rejection', async () => {
    const { at, mounted } = await hanging()
    await mounted.write([row({ ...fixtureConfig('legacy'), toolCallTimeoutMs: 0 })])
    await eventually(() => expect(at.logText()).toContain('mcp-client(one): invalid configuration'))
    expect(at.statuses.latest('one')).toMatchObject({ status: 'disposed', toolCount: 0 })
  })

  it('does nothing any more when the plugin is disposed as well', async () => {
    const at = await host()
    const journal = join(temporaryFolder(), 'journal')
    const fiber = at.ctx.plugin(mcpClient, fixtureConfig('never-answers', { journal })).ctx.fiber
    await eventually(() => expect(startedPids(journal)).toHaveLength(1))
    fiber.update(fixtureConfig('legacy', {}, { serverName: 'two' }))
    await fiber.dispose()
    await turns()
    expect(at.statuses.all('two')).toEqual([])
    expect(at.leaks().processes).toEqual([])
  })
})

describe('an edit of an entry that runs', () => {
  it('restarts it with the new configuration, and only it', async () => {
    const at = await host()
    const other = row(fixtureConfig('legacy', {}, { serverName: 'two' }), { id: 'second' })
    const mounted = await composition(at, row(fixtureConfig('legacy')), other)
    await Promise.all([at.status('one', 'connected'), at.status('two', 'connected')])
    const before = at.statuses.all('two').length
    const tools = [{ name: 'only', inputSchema: { type: 'object' } }]
    await mounted.write([row(fixtureConfig('modern', { tools })), other])
    await at.status('one', ({ protocolVersion }) => protocolVersion === '2026-07-28')
    expect(at.toolNames().filter((name) => name.startsWith('mcp__one__'))).toEqual(['mcp__one__only'])
    expect(at.statuses.all('two')).toHaveLength(before)
  })

  it('that gives it another id replaces it, one process after the other', async () => {
    const at = await host()
    const mounted = await composition(at, row(fixtureConfig('legacy')))
    await at.status('one', 'connected')
    const pid = Number(at.text(await at.call('mcp__one__pid')))
    await mounted.write([row(fixtureConfig('legacy'), { id: 'renamed' })])
    await at.status('one', 'connecting')
    expect(isAlive(pid)).toBe(false)
    await at.status('one', 'connected')
    expect(at.toolNames()).toContain('mcp__one__echo')
  })

  it('that cannot be used stops it, with the reason in the log, until it is corrected', async () => {
    const at = await host()
    const mounted = await composition(at, row(fixtureConfig('legacy')))
    await at.status('one', 'connected')
    await mounted.write([row({ ...fixtureConfig('legacy'), toolCallTimeoutMs: 0 })])
    await eventually(() => expect(at.logText()).toContain('mcp-client(one): invalid configuration'))
    await mounted.write([row(fixtureConfig('modern'))])
    await at.status('one', ({ protocolVersion }) => protocolVersion === '2026-07-28')
    expect(at.toolNames()).toContain('mcp__one__echo')
  })
})

describe('an edit', () => {
  const two = (first: string, second: string, more: Partial<StdioConfig> = {}, ofFirst = {}) => [
    row(fixtureConfig('legacy', {}, { serverName: first, ...ofFirst })),
    row(fixtureConfig('legacy', {}, { serverName: second, ...more }), { id: 'second' }),
  ]

  it.each([
    ['swaps names', ['two', 'one']],
    ['passes a name on', ['two', 'three']],
    ['passes a name on, against the order of the rows', ['three', 'one']],
  ])('of two entries that %s', async (_, [first = '', second = '']) => {
    const at = await host()
    const mounted = await composition(at, ...two('one', 'two'))
    await at.status('one', 'connected')
    await at.status('two', 'connected')
    at.statuses.clear()
    await mounted.write(two(first, second))
    await at.status(first, 'connected')
    await at.status(second, 'connected')
    expect(new Set(at.toolNames().map((name) => name.split('__')[1]))).toEqual(new Set([first, second]))
    expect(at.logText()).not.toContain('already uses serverName')
  })

  it('that swaps names takes effect where neither server was ever there', async () => {
    const at = await host()
    const config = { command: '/nonexistent/server' }
    const absent = (first: string, second: string) => two(first, second, config, config)
    const mounted = await composition(at, ...absent('one', 'two'))
    await at.status('two', 'reconnecting')
    at.statuses.clear()
    await mounted.write(absent('two', 'one'))
    await at.status('one', 'reconnecting')
    await at.status('two', 'reconnecting')
    expect(at.logText()).not.toContain('already uses serverName')
  })

  it.each([
    ['takes the name of another entry', { serverName: 'one' }, 'already uses serverName "one"'],
    [
      'has to start and cannot',
      { command: '/nonexistent/server', failOnStartupError: true },
      'was not found',
    ],
  ])('that %s fails alone, and is nobody else’s failure', async (_, more, reason) => {
    const at = await host()
    const mounted = await composition(at, ...two('one', 'two'))
    await at.status('one', 'connected')
    await at.status('two', 'connected')
    await mounted.write(two('one', 'two', more))
    await eventually(() => expect(at.logText()).toContain(reason))
    await eventually(() => expect(at.toolNames().filter((name) => name.startsWith('mcp__two__'))).toEqual([]))
    expect(at.statuses.latest('one')?.status).toBe('connected')
    await mounted.write(two('one', 'two'))
    await at.status('two', 'connected')
    expect(at.toolNames()).toContain('mcp__two__echo')
  })
})
