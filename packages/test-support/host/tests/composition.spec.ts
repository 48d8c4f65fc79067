import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { eventually, mountComposition, startHost } from '../src/index.ts'

/** A plugin in a file of its own that says in the log what it was configured with. */
function plugin(): string {
  const folder = mkdtempSync(join(tmpdir(), 'dsh-mcp-plugin-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'plugin.mjs')
  writeFileSync(
    file,
    `export const name = 'it'
     export const apply = (ctx, config) => {
       ctx.logger('it').info('up with %s', config.word)
       return () => ctx.logger('it').info('down with %s', config.word)
     }`,
  )
  return pathToFileURL(file).href
}

describe('a composition', () => {
  it('mounts its rows, takes up an edit of one, and removes what is gone', async () => {
    await using host = await startHost()
    const name = plugin()
    const row = (id: string, word: string) => ({ id, name, config: { word } })
    const said = () => host.logs.find({ name: 'it' }).map(({ text }) => text)
    await using composition = await mountComposition(host, [row('a', 'one'), row('b', 'two')])
    await eventually(() => expect(said().toSorted()).toEqual(['up with one', 'up with two']))
    host.logs.clear()
    await composition.write([row('a', 'one'), row('b', 'three')])
    await eventually(() => expect(said()).toEqual(['down with two', 'up with three']))
    host.logs.clear()
    await composition.write([row('b', 'three')])
    await eventually(() => expect(said()).toEqual(['down with one']))
  })

  it('ends with all of its rows, and its file is gone', async () => {
    await using host = await startHost()
    const composition = await mountComposition(host, [{ id: 'a', name: plugin(), config: { word: 'one' } }])
    expect(existsSync(composition.file)).toBe(true)
    await eventually(() => expect(host.logText()).toContain('up with one'))
    await composition[Symbol.asyncDispose]()
    expect(host.logText()).toContain('down with one')
    expect(existsSync(composition.file)).toBe(false)
  })
})
