import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fixtureCommand } from '@dsh-mcp/fixtures'
import { isAlive, type TestHost } from '@dsh-mcp/host'
import { describe, expect, it } from 'vitest'
import type { StdioConfig } from '../src/index.ts'
import { eventually, fixtureConfig, host, killAtEnd, mount, nothingLeft, temporaryFolder } from './support.ts'

const quote = (part: string) => `'${part.replaceAll("'", `'\\''`)}'`
const SERVER = [fixtureCommand('legacy').command, ...fixtureCommand('legacy').args].map(quote).join(' ')

/** An entry whose server is a shell script. */
const shellConfig = (script: string, cwd: string, more: Partial<StdioConfig> = {}): StdioConfig => ({
  ...fixtureConfig('legacy'),
  command: 'sh',
  args: ['-c', script],
  cwd,
  ...more,
})

/** The process ids that a file holds, one a line; settles when there are so many. */
async function pidsIn(file: string, count = 1): Promise<number[]> {
  const read = () => (existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').map(Number) : [])
  await eventually(() => expect(read()).toHaveLength(count))
  for (const pid of read()) killAtEnd(pid)
  return read()
}

async function pidOf(at: TestHost, serverName = 'one'): Promise<number> {
  const pid = Number(at.text(await at.call(`mcp__${serverName}__pid`)))
  killAtEnd(pid)
  return pid
}

/** A server that ends neither with its input nor with SIGTERM, and writes down what it is told. */
function stubborn(log: string): string {
  const [program = ''] = fixtureCommand('legacy').args
  const script = `const note = (what) => require('fs').appendFileSync(${JSON.stringify(log)}, what + '\\n')
    process.on('SIGTERM', () => note('term'))
    process.stdin.on('end', () => note('end'))
    setInterval(() => {}, 1000)
    process.exit = () => {}
    process.argv.splice(1, 0, 'stubborn')
    import(${JSON.stringify(program)})`
  return script
}
const stubbornConfig = (serverName: string, log: string): StdioConfig => ({
  ...fixtureConfig('legacy'),
  serverName,
  command: process.execPath,
  args: ['--eval', stubborn(log)],
})

describe('dispose ends', () => {
  it('a helper that the wrapper of a server started', async () => {
    const at = await host()
    const folder = temporaryFolder()
    const fiber = await mount(at, shellConfig(`sleep 600 & echo $! >helper; ${SERVER}`, folder))
    const pids = [await pidOf(at), ...(await pidsIn(join(folder, 'helper')))]
    await fiber.dispose()
    expect(pids.map(isAlive)).toEqual([false, false])
    await at.dispose()
    await nothingLeft(at)
  })

  it('a daemon that made a session of its own', async () => {
    const at = await host()
    const folder = temporaryFolder()
    const daemon = `setsid sh -c 'echo $$ >daemon; trap "" TERM; while :; do sleep 1; done' &`
    const fiber = await mount(at, shellConfig(`${daemon} exec ${SERVER}`, folder))
    const pids = [await pidOf(at), ...(await pidsIn(join(folder, 'daemon')))]
    await fiber.dispose()
    expect(pids.map(isAlive)).toEqual([false, false])
  })

  it('a server that ignores the end of its input and SIGTERM', async () => {
    const at = await host()
    const log = join(temporaryFolder(), 'log')
    const fiber = await mount(at, stubbornConfig('one', log))
    const pid = await pidOf(at)
    await fiber.dispose()
    expect(isAlive(pid)).toBe(false)
    expect(readFileSync(log, 'utf8')).toBe('end\nterm\n')
  })

  it('many servers at once: one that is slow to end holds up none of the others', async () => {
    const at = await host()
    const log = join(temporaryFolder(), 'log')
    const names = ['a', 'b', 'c']
    const slow = await Promise.all(names.map((name) => mount(at, stubbornConfig(name, log))))
    const fast = await mount(at, fixtureConfig('legacy', {}, { serverName: 'fast' }))
    const pids = await Promise.all([...names, 'fast'].map((name) => pidOf(at, name)))
    const order: string[] = []
    const dispose = async (fiber: typeof fast, name: string) => {
      await fiber.dispose()
      order.push(name)
    }
    await Promise.all([...slow.map((fiber) => dispose(fiber, 'slow')), dispose(fast, 'fast')])
    expect(order).toEqual(['fast', 'slow', 'slow', 'slow'])
    expect(pids.map(isAlive)).toEqual([false, false, false, false])
    // One after the other, each would have got its signal before the next lost its input.
    const lines = readFileSync(log, 'utf8').trim().split('\n')
    expect(lines.indexOf('term')).toBeGreaterThan(1)
  })
})

describe('a crash is noticed', () => {
  it('although a helper holds the pipes open, and the helper is gone before the next start', async () => {
    const at = await host()
    const folder = temporaryFolder()
    // Each start writes down whether the helper of the start before is still there.
    const check =
      'if [ -f helper ]; then grep -qs "State:.[RSDTt]" /proc/$(cat helper)/status && echo alive >>seen || echo gone >>seen; fi'
    const script = `${check}; sleep 600 & echo $! >helper; exec ${SERVER}`
    await mount(at, shellConfig(script, folder))
    const [helper = 0] = await pidsIn(join(folder, 'helper'))
    process.kill(await pidOf(at), 'SIGKILL')
    await at.status('one', 'reconnecting')
    await at.status('one', 'connected')
    expect(isAlive(helper)).toBe(false)
    expect(readFileSync(join(folder, 'seen'), 'utf8')).toBe('gone\n')
    expect(at.statuses.all().find(({ status }) => status === 'reconnecting')?.error).toBe(
      'the server process was ended by SIGKILL',
    )
  })

  it('of the server behind a wrapper', async () => {
    const at = await host()
    const folder = temporaryFolder()
    await mount(at, shellConfig(`echo $$ >>wrapper; ${SERVER}; exit 5`, folder))
    const pid = await pidOf(at)
    expect(await pidsIn(join(folder, 'wrapper'))).not.toContain(pid)
    process.kill(pid, 'SIGKILL')
    await at.status('one', 'reconnecting')
    await at.status('one', 'connected')
    expect(at.statuses.all().find(({ status }) => status === 'reconnecting')?.error).toContain(
      'exited with code 5',
    )
  })

  it('of the wrapper, and the server behind it ends as well', async () => {
    const at = await host()
    const folder = temporaryFolder()
    await mount(at, shellConfig(`echo $$ >>wrapper; ${SERVER}; exit 5`, folder))
    const pid = await pidOf(at)
    const [wrapper = 0] = await pidsIn(join(folder, 'wrapper'))
    process.kill(wrapper, 'SIGKILL')
    await at.status('one', 'reconnecting')
    await at.status('one', 'connected')
    expect(isAlive(pid)).toBe(false)
  })

  it('as often as it happens, and nothing is left of any of them', async () => {
    const at = await host()
    const folder = temporaryFolder()
    const reconnect = { initialDelayMs: 0, maxDelayMs: 0 }
    const script = `sleep 600 & echo $! >>helpers; echo $$ >>servers; exec ${SERVER}`
    await mount(at, shellConfig(script, folder, { reconnect }))
    const names = at.toolNames()
    const changes = at.toolChanges
    for (let crash = 1; crash <= 5; crash++) {
      await at.call('mcp__one__crash')
      await at.status('one', 'connected')
      await pidsIn(join(folder, 'servers'), crash + 1)
    }
    const pids = [
      ...(await pidsIn(join(folder, 'servers'), 6)),
      ...(await pidsIn(join(folder, 'helpers'), 6)),
    ]
    expect(pids.filter(isAlive)).toHaveLength(2)
    expect(at.toolNames()).toEqual(names)
    expect(at.toolChanges).toBe(changes)
    await at.dispose()
    expect(pids.filter(isAlive)).toEqual([])
    await nothingLeft(at)
  })
})

describe('a server that does not start', () => {
  it.each([
    [
      'no such command',
      { command: 'no-such-mcp-server' },
      'the command "no-such-mcp-server" was not found (searched PATH: ',
    ],
    ['no such folder', { cwd: '/nonexistent' }, 'the working directory "/nonexistent" (cwd) is not a folder'],
  ])('because there is %s says so in the status and in the log', async (_, wrong, message) => {
    const at = await host()
    const reconnect = { initialDelayMs: 3_600_000, maxDelayMs: 3_600_000 }
    await mount(at, fixtureConfig('legacy', {}, { ...wrong, reconnect }))
    expect(at.statuses.latest('one')).toMatchObject({
      status: 'reconnecting',
      error: expect.stringContaining(message),
    })
    expect(at.logs.find({ level: 'error', text: `mcp-client(one): ${message}` })).toHaveLength(1)
  })

  it('starts in a folder that is relative to the composition', async () => {
    const at = await host()
    const folder = temporaryFolder()
    at.ctx.baseUrl = new URL('..', `file://${folder}/`).href
    await mount(at, fixtureConfig('legacy', {}, { cwd: folder.split('/').at(-1)! }))
    expect(at.text(await at.call('mcp__one__cwd'))).toBe(folder)
  })
})
