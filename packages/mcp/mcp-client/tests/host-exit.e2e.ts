import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fixtureCommand } from '@dsh-mcp/fixtures'
import { isAlive } from '@dsh-mcp/host'
import { describe, expect, it } from 'vitest'
import type { StdioConfig } from '../src/index.ts'
import { readProcFs, type ProcessEntry } from '../src/transport/process-table.ts'
import { eventually, fixtureConfig, gone, killAtEnd, scriptConfig, temporaryFolder } from './support.ts'

/** A server with a helper in its group and a daemon in a session of its own; each writes its process id. */
function family(cwd: string, server = fixtureCommand('legacy')): StdioConfig {
  const quoted = [server.command, ...server.args].map((part) => `'${part}'`).join(' ')
  const script = [
    'sleep 600 >/dev/null 2>&1 & echo $! >helper',
    `setsid sh -c 'echo $$ >daemon; exec sleep 600' >/dev/null 2>&1 &`,
    'echo $$ >server',
    `exec ${quoted}`,
  ].join('\n')
  return { serverName: 'one', transport: 'stdio', command: 'sh', args: ['-c', script], cwd }
}

const pidIn = (folder: string, name: string) => Number(readFileSync(join(folder, name), 'utf8'))

interface RunningHost {
  readonly pid: number
  readonly ended: Promise<{ code: number | null; signal: string | null }>
  readonly stderr: () => string
}

/** Start the host program; settles when its entry is up. */
async function startProgram(mode: string, config: StdioConfig): Promise<RunningHost> {
  const program = join(import.meta.dirname, 'host-program.ts')
  const child = spawn(process.execPath, [program, mode, JSON.stringify(config)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  killAtEnd(child.pid!)
  let stderr = ''
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  const ended = once(child, 'exit').then(([code, signal]) => ({ code, signal }))
  for await (const line of createInterface({ input: child.stdout })) if (line === 'ready') break
  return { pid: child.pid!, ended, stderr: () => stderr }
}

/** Start a host whose server has a family; settles when all of it is there. */
async function startFamily(mode: string, server?: { command: string; args: string[] }) {
  const folder = temporaryFolder()
  const host = await startProgram(mode, family(folder, server))
  const names = ['server', 'helper', 'daemon']
  await eventually(() => expect(names.map((name) => pidIn(folder, name)).every((pid) => pid > 0)).toBe(true))
  const pids = names.map((name) => pidIn(folder, name))
  for (const pid of pids) killAtEnd(pid)
  return { ...host, pids }
}

describe('when the host ends, every process of its servers does', () => {
  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('by %s', async (signal) => {
    const { pid, ended, pids } = await startFamily('wait')
    expect(pids.map(isAlive)).toEqual([true, true, true])
    process.kill(pid, signal)
    expect(await ended).toEqual({ code: null, signal })
    await Promise.all(pids.map(gone))
  })

  it('by process.exit', async () => {
    const { ended, pids } = await startFamily('exit')
    expect(await ended).toEqual({ code: 3, signal: null })
    await Promise.all(pids.map(gone))
  })

  it.each(['throw', 'reject'])('by an error that nobody caught (%s)', async (mode) => {
    const { ended, pids, stderr } = await startFamily(mode)
    expect(await ended).toEqual({ code: 1, signal: null })
    expect(stderr()).toContain('a bug of the host')
    await Promise.all(pids.map(gone))
  })

  it('by disposing of its plugins, after which nothing keeps it alive', async () => {
    const { ended, pids } = await startFamily('dispose')
    expect(await ended).toEqual({ code: 0, signal: null })
    expect(pids.map(isAlive)).toEqual([false, false, false])
  })

  it('by a signal that it handles itself', async () => {
    const { pid, ended, pids } = await startFamily('handle')
    process.kill(pid, 'SIGTERM')
    expect(await ended).toEqual({ code: 0, signal: null })
    expect(pids.map(isAlive)).toEqual([false, false, false])
  })

  it('although the server ignores every polite request', async () => {
    const stubborn = `process.on('SIGTERM', () => {}); process.on('SIGINT', () => {}); process.on('SIGHUP', () => {});
      setInterval(() => {}, 1000); process.argv.splice(1, 0, 'it'); import(${JSON.stringify(fixtureCommand('legacy').args[0])})`
    const { pid, ended, pids } = await startFamily('wait', {
      command: process.execPath,
      args: ['--eval', stubborn.replaceAll("'", '"')],
    })
    process.kill(pid, 'SIGTERM')
    expect(await ended).toEqual({ code: null, signal: 'SIGTERM' })
    await Promise.all(pids.map(gone))
  })

  it('although a helper starts another one in a session of its own all the time and ends itself', async () => {
    // Whether one is missed is chance, so there are some hosts.
    const left = await Promise.all(Array.from({ length: 4 }, leftOfChain))
    expect(left).toEqual([[], [], [], []])
  })
})

/** Start a host whose server has a helper that does so, end it, and tell which processes are left. */
async function leftOfChain(): Promise<ProcessEntry[]> {
  // Removed with the test, and then the helpers end, whatever the test finds.
  const folder = temporaryFolder()
  const server = fixtureConfig('legacy')
  const helper = 'sleep 0.02; [ -e "$RUN" ] && setsid sh -c "$HELPER" & exit'
  const { pid, ended } = await startProgram('wait', {
    ...server,
    command: 'sh',
    args: ['-c', 'sh -c "$HELPER" >/dev/null 2>&1 & exec "$0" "$@"', server.command, ...(server.args ?? [])],
    env: { ...server.env, HELPER: helper, RUN: folder },
  })
  const find = async () =>
    (await readProcFs()).filter(({ environment }) => environment.includes(`RUN=${folder}`))
  // The server and at least one helper.
  await eventually(async () =>
    expect(new Set((await find()).map(({ group }) => group)).size).toBeGreaterThan(1),
  )
  process.kill(pid, 'SIGTERM')
  expect(await ended).toEqual({ code: null, signal: 'SIGTERM' })
  const left: ProcessEntry[] = []
  // One look could miss what changes all the time.
  for (let look = 0; look < 10; look++) left.push(...(await find()))
  return left
}

describe('a host that has nothing left to do ends', () => {
  it('although an entry waits for its next attempt', async () => {
    const reconnect = { initialDelayMs: 3_600_000, maxDelayMs: 3_600_000 }
    const { ended } = await startProgram('wait', scriptConfig('process.exit(1)', [], { reconnect }))
    expect(await ended).toEqual({ code: 0, signal: null })
  })

  it('although an entry has given up', async () => {
    const { ended } = await startProgram(
      'wait',
      scriptConfig('process.exit(1)', [], { reconnect: { maxAttempts: 1 } }),
    )
    expect(await ended).toEqual({ code: 0, signal: null })
  })
})
