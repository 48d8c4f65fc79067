/** The parts that need no composition: arguments, saved files, exit codes, output, waiting. */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readArguments } from '../src/commands/arguments.ts'
import { prepareFolder, saveBinaries } from '../src/commands/save.ts'
import { CommandError, exitCode, outcomeOf, worst } from '../src/exit.ts'
import { Output, wantsColor, type Sink } from '../src/output.ts'
import { waitFor } from '../src/wait.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dsh-mcp-parts-'))
})
afterEach(async () => {
  await rm(folder, { recursive: true })
})

describe('arguments', () => {
  const none = Readable.from([])

  it('are a JSON object: written, in a file, on standard input, or none', async () => {
    const file = join(folder, 'args.json')
    await writeFile(file, '{"a":[1]}')
    expect(await readArguments('{"a":[1]}', none)).toEqual({ a: [1] })
    expect(await readArguments(`@${file}`, none)).toEqual({ a: [1] })
    expect(await readArguments('-', Readable.from(['{"a":', '[1]}']))).toEqual({ a: [1] })
    expect(await readArguments(undefined, none)).toEqual({})
  })

  it.each(['{', '"text"', '[]', 'null', '3', '@/no/such/file'])(
    '%s is refused as wrong usage',
    async (written) => {
      const refusal = readArguments(written, none)
      await expect(refusal).rejects.toThrow(/one JSON object/)
      await expect(refusal).rejects.toMatchObject({ outcome: 'unusable' })
    },
  )
})

describe('saved files', () => {
  const data = Buffer.from('data').toString('base64')
  const blob = (uri: string, mimeType?: string) => ({
    type: 'resource',
    resource: { uri, blob: data, ...(mimeType && { mimeType }) },
  })

  it('are named after their block, and stay inside the folder', async () => {
    const content = [
      { type: 'text', text: 'not saved' },
      { type: 'image', mimeType: 'image/jpeg', data },
      blob('file:///a/../../etc/passwd', 'application/pdf'),
      blob('x://y/..'),
      blob('x://a/%2e%2e%2fb c.txt?d', 'no/such-type'),
      { type: 'image', mimeType: 'image/jpg', data },
      { type: 'resource', resource: { uri: 'x://text', text: 'not saved' } },
    ]
    await prepareFolder(join(folder, 'new'))
    const saved = await saveBinaries({ content }, join(folder, 'new'))
    expect(await readdir(join(folder, 'new'))).toEqual([
      '01.jpg',
      '02-passwd.pdf',
      '03.bin',
      '04-d.bin',
      '05.jpg',
    ])
    expect(saved.map(({ bytes }) => bytes)).toEqual([4, 4, 4, 4, 4])
    expect(await readFile(saved[0]!.path, 'utf8')).toBe('data')
  })

  it('never replace a file', async () => {
    const value = { content: [{ type: 'image', mimeType: 'image/png', data }] }
    await writeFile(join(folder, '01.png'), 'mine')
    await saveBinaries(value, folder)
    await saveBinaries(value, folder)
    expect((await readdir(folder)).toSorted()).toEqual(['01 (2).png', '01 (3).png', '01.png'])
    expect(await readFile(join(folder, '01.png'), 'utf8')).toBe('mine')
  })

  it('are none for a failed call or a value of another shape', async () => {
    for (const value of [undefined, null, 'text', [], {}, { content: 3 }])
      expect(await saveBinaries(value, folder)).toEqual([])
  })

  it('that cannot be written are told', async () => {
    const file = join(folder, 'file')
    await writeFile(file, '')
    await expect(prepareFolder(file)).rejects.toMatchObject({ outcome: 'unusable' })
    const content = [{ type: 'image', mimeType: 'image/png', data }]
    await expect(saveBinaries({ content }, file)).rejects.toThrow(
      /^cannot save to .*file: a part of the path/,
    )
  })
})

describe('exit codes', () => {
  it('are those of the shell', () => {
    expect((['ok', 'failed', 'unusable', 'SIGINT', 'SIGTERM', 'SIGHUP'] as const).map(exitCode)).toEqual([
      0, 1, 2, 130, 143, 129,
    ])
    expect(outcomeOf(new CommandError('unusable', 'x'))).toBe('unusable')
    expect(outcomeOf(new Error('x'))).toBe('failed')
    expect(worst('ok', 'unusable', 'failed')).toBe('unusable')
    expect(worst()).toBe('ok')
  })
})

/** Collects what is written. */
class Collected implements Sink {
  text = ''
  isTTY: boolean | undefined
  columns: number | undefined
  constructor(isTTY?: boolean, columns?: number) {
    this.isTTY = isTTY
    this.columns = columns
  }
  write(text: string, done: () => void): void {
    this.text += text
    done()
  }
}

describe('output', () => {
  it('keeps results and notes apart, and paints each for where it goes', async () => {
    const out = new Collected()
    const err = new Collected(true)
    const output = new Output(out, err, {})
    output.result('result')
    output.json({ a: 1 })
    output.note('note')
    output.error('wrong')
    await output.flush()
    expect(out.text).toBe('result\n{\n  "a": 1\n}\n')
    expect(err.text).toBe('\u{1b}[90mnote\u{1b}[39m\n\u{1b}[31merror:\u{1b}[39m wrong\n')
    expect(output.paint('good', 'x')).toBe('x')
  })

  it('has colours on a terminal only, and not against NO_COLOR or a dumb terminal', () => {
    const terminal = new Collected(true)
    expect(wantsColor(terminal, {})).toBe(true)
    expect(wantsColor(terminal, { NO_COLOR: '' })).toBe(true)
    expect(wantsColor(terminal, { NO_COLOR: '1' })).toBe(false)
    expect(wantsColor(terminal, { TERM: 'dumb' })).toBe(false)
    expect(wantsColor(new Collected(), { FORCE_COLOR: '1' })).toBe(false)
  })

  it('knows the width of a terminal only', () => {
    const columns = (sink: Sink) => new Output(sink, sink, {}).columns
    expect([
      columns(new Collected(true, 90)),
      columns(new Collected(true, 0)),
      columns(new Collected(false, 90)),
    ]).toEqual([90, undefined, undefined])
  })
})

describe('waiting', () => {
  const options = { boundMs: undefined, signal: new AbortController().signal, onSlow: () => {} }

  it('gives what was waited for, or throws what it failed with', async () => {
    expect(await waitFor(Promise.resolve(3), options)).toEqual({ kind: 'done', value: 3 })
    await expect(waitFor(Promise.reject(new Error('no')), options)).rejects.toThrow('no')
  })

  it('ends at its bound, and at an interrupt, also at one that came before', async () => {
    const never = new Promise<void>(() => {})
    expect(await waitFor(never, { ...options, boundMs: 1 })).toEqual({ kind: 'late' })
    const controller = new AbortController()
    const waiting = waitFor(never, { ...options, signal: controller.signal })
    controller.abort()
    expect(await waiting).toEqual({ kind: 'interrupted' })
    expect(await waitFor(never, { ...options, signal: AbortSignal.abort() })).toEqual({ kind: 'interrupted' })
  })

  it('says how long it has been', async () => {
    const notes: number[] = []
    const { promise, resolve } = Promise.withResolvers<void>()
    await waitFor(promise, {
      ...options,
      onSlow: (seconds) => {
        notes.push(seconds)
        resolve()
      },
    })
    expect(notes).toEqual([expect.any(Number)])
  })
})
