import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, it, vi } from 'vitest'
import { readProcessTable, readPs } from '../../src/transport/process-table.ts'
import { eventually, killAtEnd } from '../support.ts'

async function sleeper(env: Record<string, string> = {}): Promise<number> {
  const child = spawn(process.execPath, ['--eval', 'setInterval(() => {}, 1000)'], { detached: true, env })
  await once(child, 'spawn')
  killAtEnd(child.pid!)
  return child.pid!
}

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
