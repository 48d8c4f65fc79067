import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readProcFs, readProcFsNow } from '../../src/transport/process-table.ts'
import { temporaryFolder } from '../support.ts'

/** A folder like `/proc`, with these files. */
function procFs(files: Record<string, string>): string {
  const root = temporaryFolder()
  fill(root, files)
  return root
}

function fill(root: string, files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(root, path, '..'), { recursive: true })
    writeFileSync(join(root, path), text)
  }
}

describe.each([
  ['as a promise', readProcFs],
  ['at once', async (root?: string) => [...readProcFsNow(root)]],
])('the table under /proc, read %s', (_, read) => {
  it('lists each process with its group and environment', async () => {
    const root = procFs({
      '12/stat': '12 (node) S 1 10 10 0 -1',
      '12/environ': 'A=1\0B=2\0',
      '7/stat': '7 (sh) R 1 7 7 0 -1',
      '7/environ': '',
      uptime: '1.0 2.0',
      'self/stat': '12 (node) S 1 10 10 0 -1',
    })
    expect((await read(root)).toSorted((a, b) => a.pid - b.pid)).toEqual([
      { pid: 7, group: 7, environment: '' },
      { pid: 12, group: 10, environment: 'A=1\0B=2\0' },
    ])
  })

  it('is not fooled by the name of a command', async () => {
    const root = procFs({ '12/stat': '12 (a) Z 9 (b) S 1 10 10', '12/environ': '' })
    expect(await read(root)).toEqual([{ pid: 12, group: 10, environment: '' }])
  })

  it('leaves out what has ended: zombies, and processes that are gone while it looks', async () => {
    const root = procFs({
      '1/stat': '1 (zombie) Z 1 1 1',
      '2/stat': '2 (dead) X 1 2 2',
      '3/environ': 'A=1\0',
      '4/stat': '',
    })
    expect(await read(root)).toEqual([])
  })

  it('lists a process whose environment is not ours to read by its group', async () => {
    const root = procFs({ '12/stat': '12 (sudo) S 1 10 10', '12/environ/unreadable': '' })
    expect(await read(root)).toEqual([{ pid: 12, group: 10, environment: '' }])
  })

  it('lists what has no environment once: a thread of the kernel, a process that was started without one', async () => {
    const root = procFs({
      '2/stat': '2 (kthreadd) S 0 0 0',
      '2/environ': '',
      '12/stat': '12 (sh) S 1 12 12',
      '12/environ': '',
    })
    expect((await read(root)).toSorted((a, b) => a.pid - b.pid)).toEqual([
      { pid: 2, group: 0, environment: '' },
      { pid: 12, group: 12, environment: '' },
    ])
  })

  it('is empty where there is no such folder', async () => {
    expect(await read(join(temporaryFolder(), 'absent'))).toEqual([])
  })

  it('holds this process, on this machine', async () => {
    expect(await read()).toContainEqual(expect.objectContaining({ pid: process.pid }))
  })
})

describe('the table under /proc, read at once', () => {
  const numbered = (pid: number) => ({ [`${pid}/stat`]: `${pid} (sh) S 1 ${pid} ${pid}` })

  it('lists a process that started while it looked, although its parent has ended', () => {
    const root = procFs({ ...numbered(1), ...numbered(2) })
    const pids: number[] = []
    for (const { pid } of readProcFsNow(root)) {
      pids.push(pid)
      if (pid === 1) {
        rmSync(join(root, '2'), { recursive: true })
        fill(root, numbered(3))
      }
    }
    expect(pids).toEqual([1, 3])
  })

  it('ends, however many processes start while it looks', () => {
    const root = procFs(numbered(1))
    const pids: number[] = []
    for (const { pid } of readProcFsNow(root)) {
      pids.push(pid)
      fill(root, numbered(pid + 1))
    }
    expect(pids).toEqual([1, 2, 3, 4, 5])
  })
})
