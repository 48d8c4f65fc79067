import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { readProcessTable, readProcFs, readPs } from '../../src/transport/process-table.ts'
import { eventually, killAtEnd, temporaryFolder } from '../support.ts'

async function sleeper(env: Record<string, string> = {}): Promise<number> {
  const child = spawn(process.execPath, ['--eval', 'setInterval(() => {}, 1000)'], { detached: true, env })
  await once(child, 'spawn')
  killAtEnd(child.pid!)
  return child.pid!
}

/** A folder like `/proc` with one process, whose environment the reader waits for: it is a pipe. */
function slowProcFs(): { root: string; environ: string } {
  const root = temporaryFolder()
  mkdirSync(join(root, '12'))
  writeFileSync(join(root, '12/stat'), '12 (sh) S 1 12 12')
  const environ = join(root, '12/environ')
  execFileSync('mkfifo', [environ])
  return { root, environ }
}

describe('the table under /proc', () => {
  it('lists a process that started while it was read', async () => {
    const { root, environ } = slowProcFs()
    const reading = readProcFs(root)
    // Opens when the reader does, which has listed the folder by then.
    const pipe = await open(environ, 'w')
    mkdirSync(join(root, '13'))
    writeFileSync(join(root, '13/stat'), '13 (sh) S 1 13 13')
    writeFileSync(join(root, '13/environ'), 'A=1\0')
    await pipe.write('B=1\0')
    await pipe.close()
    expect(await reading).toEqual([
      { pid: 12, group: 12, environment: 'B=1\0' },
      { pid: 13, group: 13, environment: 'A=1\0' },
    ])
  })

  it('looks again at a process whose environment was empty, as it is while a program starts', async () => {
    const { root, environ } = slowProcFs()
    const reading = readProcFs(root)
    const pipe = await open(environ, 'w')
    writeFileSync(join(root, 'started'), 'A=1\0')
    renameSync(join(root, 'started'), environ)
    await pipe.close()
    expect(await reading).toEqual([{ pid: 12, group: 12, environment: 'A=1\0' }])
  })
})

describe('the table of ps', () => {
  it('lists each process with its group, without environments', async () => {
    const pid = await sleeper()
    await eventually(async () => {
      expect(await readPs()).toContainEqual({ pid, group: pid, environment: '' })
    })
  })

  it('leaves out zombies', async () => {
    // The shell does not wait for its child, which stays as a zombie until the shell ends.
    const shell = spawn('sh', ['-c', 'true & echo $!; exec sleep 600'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    killAtEnd(shell.pid!)
    const [line] = (await once(shell.stdout, 'data')) as [Buffer]
    const zombie = Number(line.toString())
    await eventually(async () => {
      expect((await readPs()).map(({ pid }) => pid)).not.toContain(zombie)
    })
    expect((await readPs()).map(({ pid }) => pid)).toContain(shell.pid)
  })

  it('is empty where there is no ps', async () => {
    vi.stubEnv('PATH', '/nonexistent')
    expect(await readPs()).toEqual([])
  })
})

describe('the process table', () => {
  it.each([['linux'], ['darwin']] as const)('is read by the means of %s', async (platform) => {
    const pid = await sleeper({ A: 'marked' })
    const entry = (await readProcessTable(platform)).find((each) => each.pid === pid)
    expect(entry).toEqual({ pid, group: pid, environment: platform === 'linux' ? 'A=marked\0' : '' })
  })

  it('is read once for all who ask while one reading runs, and not before they asked', async () => {
    const first = readProcessTable()
    const shared = readProcessTable()
    expect(readProcessTable()).toBe(shared)
    expect(shared).not.toBe(first)
    const order: string[] = []
    await Promise.all([first.then(() => order.push('first')), shared.then(() => order.push('shared'))])
    expect(order).toEqual(['first', 'shared'])
    expect(await readProcessTable()).toContainEqual(expect.objectContaining({ pid: process.pid }))
  })
})
