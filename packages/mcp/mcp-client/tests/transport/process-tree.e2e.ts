import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { isAlive } from '@dsh-mcp/host'
import { describe, expect, it, vi } from 'vitest'
import { readProcFs, type ProcessEntry } from '../../src/transport/process-table.ts'
import { killAllNow, MARKER_NAME, ProcessTree, type EndingGrace } from '../../src/transport/process-tree.ts'
import { eventually, gone, killAtEnd, temporaryFolder, turns } from '../support.ts'

/** Steps that never come to the next one by themselves on a machine under load. */
const PATIENT: EndingGrace = { politeMs: 60_000, signalMs: 60_000, sweepMs: 60_000 }
/** Steps that do not wait. */
const HASTY: EndingGrace = { politeMs: 1, signalMs: 1, sweepMs: 1 }

interface Planted {
  readonly tree: ProcessTree
  readonly child: ChildProcess
  /** The process ids that the program printed, one a line, before it printed `ready`. */
  readonly pids: readonly number[]
  /** How the child ended. */
  readonly ended: Promise<{ code: number | null; signal: string | null }>
}

/** Start a tree and wait until its program prints `ready`. */
async function plant(
  command: string,
  args: string[],
  options: { platform?: NodeJS.Platform | undefined; env?: NodeJS.ProcessEnv } = {},
): Promise<Planted> {
  const tree = new ProcessTree(options.platform)
  const env = { ...process.env, ...options.env, ...tree.marker }
  const child = spawn(command, args, { ...tree.spawnOptions, env, stdio: ['pipe', 'pipe', 'inherit'] })
  tree.adopt(child)
  const ended = once(child, 'exit').then(([code, signal]) => ({ code, signal }))
  killAtEnd(child.pid!)
  const pids: number[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    if (line === 'ready') break
    pids.push(Number(line))
    killAtEnd(Number(line))
  }
  return { tree, child, pids, ended }
}

const script = (text: string, platform?: NodeJS.Platform) =>
  plant(process.execPath, ['--eval', `${text}; process.stdin.resume(); console.log('ready')`], { platform })
const shell = (text: string, platform?: NodeJS.Platform) => plant('sh', ['-c', text], { platform })

/** How often what only chance can show is tried. */
const TRIES = 6

/**
 * Plant trees whose server runs the shell script `$HELPER` at some time. While there is a folder `$RUN` the
 * helper may live: it is removed with the test, so that no helper outlives that, whatever the test finds.
 */
async function plantAll(helper: string, server: string): Promise<Planted[]> {
  const env = { HELPER: helper, RUN: temporaryFolder() }
  return await Promise.all(Array.from({ length: TRIES }, () => plant('sh', ['-c', server], { env })))
}

/** Plant trees with a helper that lives for 20 ms, starts the next one in a session of its own, and ends. */
async function plantChains(): Promise<Planted[]> {
  const planted = await plantAll(
    'sleep 0.02; [ -e "$RUN" ] && setsid sh -c "$HELPER" & exit',
    'sh -c "$HELPER" >/dev/null 2>&1 & echo ready; cat >/dev/null',
  )
  for (const { tree, child } of planted) {
    await eventually(async () => {
      const groups = (await processesOf(tree)).map(({ group }) => group)
      expect(groups.filter((group) => group !== child.pid)).not.toEqual([])
    })
  }
  return planted
}

async function processesOf({ marker }: ProcessTree): Promise<ProcessEntry[]> {
  const all = await readProcFs()
  return all.filter(({ environment }) => environment.includes(marker[MARKER_NAME]!))
}

/** Which of the trees have a process left. One look could miss what changes all the time. */
async function unended(planted: readonly Planted[]): Promise<ProcessTree[]> {
  const left = new Set<ProcessTree>()
  for (let look = 0; look < 10; look++) {
    for (const { tree } of planted) if ((await processesOf(tree)).length > 0) left.add(tree)
  }
  return [...left]
}

describe('the end of a process', () => {
  it('is the end of its input, when it listens to that', async () => {
    const { tree, child, ended } = await script(
      `process.stdin.on('end', () => process.exit(3)); process.on('SIGTERM', () => process.exit(4))`,
    )
    await tree.end(PATIENT)
    expect(await ended).toEqual({ code: 3, signal: null })
    expect(isAlive(child.pid!)).toBe(false)
  })

  it('is SIGTERM, when it does not', async () => {
    const { tree, ended } = await script(
      `setInterval(() => {}, 1000); process.on('SIGTERM', () => process.exit(4))`,
    )
    await tree.end({ ...PATIENT, politeMs: 1 })
    expect(await ended).toEqual({ code: 4, signal: null })
  })

  it('is force, when it listens to nothing', async () => {
    const { tree, ended } = await script(`setInterval(() => {}, 1000); process.on('SIGTERM', () => {})`)
    await tree.end({ ...HASTY, sweepMs: 60_000 })
    expect(await ended).toEqual({ code: null, signal: 'SIGKILL' })
  })

  it('comes to one that is stopped', async () => {
    const { tree, child, ended } = await script(`setInterval(() => {}, 1000)`)
    child.kill('SIGSTOP')
    await tree.end(HASTY)
    expect(await ended).toEqual({ code: null, signal: 'SIGKILL' })
  })

  it('is nothing, when it has ended already', async () => {
    const { tree, child, ended } = await script(`process.on('SIGUSR2', () => process.exit(0))`)
    child.kill('SIGUSR2')
    await ended
    await tree.end(PATIENT)
    expect(isAlive(child.pid!)).toBe(false)
  })

  it('is nothing, when it never began', async () => {
    const tree = new ProcessTree()
    await tree.end(PATIENT)
    const child = spawn('/nonexistent', [], tree.spawnOptions)
    tree.adopt(child)
    await once(child, 'error')
    await tree.end(PATIENT)
    expect(child.pid).toBeUndefined()
  })
})

describe('what a process leaves behind', () => {
  it('ends with it: a helper in its group', async () => {
    const { tree, pids, ended } = await shell('sleep 600 & echo $!; echo ready; cat >/dev/null')
    await tree.end(PATIENT)
    expect(await ended).toMatchObject({ code: 0 })
    expect(pids.map(isAlive)).toEqual([false])
  })

  it('ends with it: a helper that made a group and a session of its own', async () => {
    const { tree, pids, ended } = await shell(
      `sleep 600 & echo $!; setsid sh -c 'echo $$; echo ready; exec sleep 600' & cat >/dev/null`,
    )
    expect(pids).toHaveLength(2)
    await tree.end(PATIENT)
    expect(await ended).toMatchObject({ code: 0 })
    expect(pids.map(isAlive)).toEqual([false, false])
  })

  it('ends by force, when it ignores SIGTERM', async () => {
    const { tree, pids } = await shell(
      `sh -c 'trap "" TERM; echo $$; echo ready; while :; do sleep 1; done' & cat >/dev/null`,
    )
    expect(pids).toHaveLength(1)
    await tree.end({ ...PATIENT, sweepMs: 1 })
    expect(pids.map(isAlive)).toEqual([false])
  })

  it('ends, when the host hardly gets to run in the time that there is for it', async () => {
    const { tree, pids } = await shell(
      `sh -c 'trap "" TERM; echo $$; echo ready; while :; do sleep 1; done' & cat >/dev/null`,
    )
    let now = 0
    vi.spyOn(performance, 'now').mockImplementation(() => (now += 10_000))
    await tree.end({ ...PATIENT, sweepMs: 1 })
    expect(pids.map(isAlive)).toEqual([false])
  })

  it('is given up, when nothing ends it', async () => {
    const { tree, pids } = await shell(`setsid sh -c 'echo $$; echo ready; exec sleep 600' & cat >/dev/null`)
    let now = 0
    vi.spyOn(performance, 'now').mockImplementation(() => (now += 10_000))
    const kill = vi.spyOn(process, 'kill').mockReturnValue(true)
    await tree.end({ ...PATIENT, sweepMs: 1 })
    expect(kill.mock.calls).toEqual(Array.from({ length: 3 }, () => [pids[0], 'SIGKILL']))
    kill.mockRestore()
    expect(pids.map(isAlive)).toEqual([true])
  })

  it('ends, when it starts another one in its place each time that it is told to', async () => {
    const helper = `
      const again = () => require('child_process').spawn(process.execPath, ['--eval', process.env.HELPER], { detached: true, stdio: 'ignore' }).unref();
      process.on('SIGTERM', () => { again(); process.exit() }); setInterval(() => {}, 1000)`
    const { tree } = await script(
      `process.env.HELPER = ${JSON.stringify(helper)};
       const child = require('child_process').spawn(process.execPath, ['--eval', process.env.HELPER], { detached: true, stdio: 'ignore' });
       child.unref(); process.stdin.on('end', () => process.exit()); console.log(child.pid)`,
    )
    await tree.end({ ...PATIENT, sweepMs: 500 })
    expect(await processesOf(tree)).toEqual([])
  })

  it('ends, when it starts another one in a session of its own all the time and ends itself', async () => {
    const planted = await plantChains()
    for (const { tree } of planted) await tree.end(PATIENT)
    expect(await unended(planted)).toEqual([])
  })

  it('ends, when it forks into a session of its own at the very moment that the server ends', async () => {
    const planted = await plantAll(
      `setsid sh -c 'while [ -e "$RUN" ]; do sleep 0.1; done' & exit`,
      'echo ready; cat >/dev/null; setsid sh -c "$HELPER" >/dev/null 2>&1 &',
    )
    for (const { tree } of planted) await tree.end(PATIENT)
    expect(await unended(planted)).toEqual([])
  })

  it('is left alone, when it belongs to another tree', async () => {
    const [one, other] = await Promise.all([
      shell('echo $$; echo ready; cat'),
      shell('echo $$; echo ready; cat'),
    ])
    await one.tree.end(PATIENT)
    expect(one.pids.map(isAlive)).toEqual([false])
    expect(other.pids.map(isAlive)).toEqual([true])
    await other.tree.end(PATIENT)
    expect(other.pids.map(isAlive)).toEqual([false])
  })
})

describe('on a system that shows no environments', () => {
  it('a helper in the group ends all the same', async () => {
    const { tree, pids } = await shell('sleep 600 & echo $!; echo ready; cat >/dev/null', 'darwin')
    await tree.end(PATIENT)
    expect(pids.map(isAlive)).toEqual([false])
  })
})

describe('on Windows', () => {
  it('the process is spawned without a console window or a group of its own', () => {
    expect(new ProcessTree('win32').spawnOptions).toEqual({ detached: false, windowsHide: true })
    expect(new ProcessTree('linux').spawnOptions).toEqual({ detached: true, windowsHide: true })
  })

  it('the tree is ended by taskkill', async () => {
    const folder = temporaryFolder()
    const log = join(folder, 'log')
    writeFileSync(join(folder, 'taskkill'), `#!/bin/sh\necho "$@" >> ${log}\nkill -TERM "$2"\n`, {
      mode: 0o755,
    })
    const { tree, child, ended } = await script(
      `setInterval(() => {}, 1000); process.on('SIGTERM', () => process.exit(5))`,
      'win32',
    )
    vi.stubEnv('PATH', `${folder}:${process.env['PATH']}`)
    await tree.end({ ...PATIENT, politeMs: 1 })
    expect(await ended).toEqual({ code: 5, signal: null })
    expect(readFileSync(log, 'utf8')).toBe(`/pid ${child.pid} /T /F\n`)
    // What taskkill came to is known when it has ended.
    await eventually(() => expect(process.getActiveResourcesInfo()).not.toContain('ProcessWrap'))
    await turns()
  })

  it('the process itself is killed where taskkill cannot do it', async () => {
    const { tree, ended } = await script(
      `setInterval(() => {}, 1000); process.on('SIGTERM', () => {})`,
      'win32',
    )
    await tree.end({ ...PATIENT, politeMs: 1 })
    expect(await ended).toEqual({ code: null, signal: 'SIGKILL' })
  })
})

describe('the exit of the host', () => {
  it('kills every process of every tree, with all that came of it', async () => {
    const { tree, pids, ended } = await shell(
      `sleep 600 & echo $!; setsid sh -c 'echo $$; echo ready; exec sleep 600' & cat >/dev/null`,
    )
    expect(pids).toHaveLength(2)
    killAllNow()
    expect(await ended).toEqual({ code: null, signal: 'SIGKILL' })
    await Promise.all(pids.map(gone))
    await tree.end(PATIENT)
  })

  it('kills what starts another one in a session of its own all the time and ends itself', async () => {
    const planted = await plantChains()
    killAllNow()
    expect(await unended(planted)).toEqual([])
    await Promise.all(planted.map(({ tree }) => tree.end(PATIENT)))
  })

  it('gives up what nothing kills', async () => {
    const { tree, pids } = await shell(`setsid sh -c 'echo $$; echo ready; exec sleep 600' & cat >/dev/null`)
    await eventually(async () => expect(await processesOf(tree)).toHaveLength(3))
    let now = 0
    vi.spyOn(performance, 'now').mockImplementation(() => (now += 10_000))
    const kill = vi.spyOn(process, 'kill').mockReturnValue(true)
    killAllNow()
    expect(kill.mock.calls.filter(([pid]) => pid === pids[0])).toEqual(
      Array.from({ length: 3 }, () => [pids[0], 'SIGKILL']),
    )
    kill.mockRestore()
    vi.mocked(performance.now).mockRestore()
    expect(pids.map(isAlive)).toEqual([true])
    await tree.end(PATIENT)
  })

  it('kills nothing that is not its own', async () => {
    const { tree, ended } = await shell('echo ready; cat')
    const other = spawn('sleep', ['600'], {
      detached: true,
      env: { ...process.env, ...new ProcessTree().marker },
    })
    killAtEnd(other.pid!)
    new ProcessTree().killGroupNow()
    killAllNow()
    expect(await ended).toEqual({ code: null, signal: 'SIGKILL' })
    expect(isAlive(other.pid!)).toBe(true)
    await tree.end(PATIENT)
  })

  it('is listened to while there is a process, and no longer', async () => {
    const events = ['exit', 'SIGINT', 'SIGTERM', 'SIGHUP']
    const listeners = () => events.map((event) => process.listenerCount(event))
    const before = listeners()
    const [one, other] = await Promise.all([shell('echo ready; cat'), shell('echo ready; cat')])
    expect(listeners()).not.toEqual(before)
    await one.tree.end(PATIENT)
    expect(listeners()).not.toEqual(before)
    await other.tree.end(PATIENT)
    expect(listeners()).toEqual(before)
  })
})

it('a tree is known by a marker of its own', () => {
  const [one, other] = [new ProcessTree().marker, new ProcessTree().marker]
  expect(Object.keys(one)).toEqual([MARKER_NAME])
  expect(one).not.toEqual(other)
})
