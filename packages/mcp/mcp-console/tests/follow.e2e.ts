/** `dsh-mcp run` on a terminal: what happens to a server is told, and an edit reloads just what it changed. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startedPids, startHttpFixture, stdioFixture } from '@dsh-mcp/fixtures'
import { eventually, isAlive } from '@dsh-mcp/host'
import { expect, it } from 'vitest'
import { compose, httpRow, startOnTerminal, stdioRow, type Running } from './support.ts'

/** What was printed since the last look. */
function news(running: Running): string {
  const text = running.stdout
  running.stdout = ''
  return text
}

it('tells that a killed server is lost, and that it is back', async () => {
  await using composition = await compose([])
  const journal = join(composition.folder, 'journal')
  await composition.write([stdioRow('old', stdioFixture('legacy', { journal }))])
  await using running = startOnTerminal(['run'], { cwd: composition.folder, env: { NO_COLOR: '1' } })
  await running.until(/Ctrl-C ends everything/)
  news(running)
  process.kill(startedPids(journal)[0]!, 'SIGKILL')
  // The whole line: it may come in pieces.
  await running.until(/old connected .*\r\n/)
  expect(news(running)).toMatch(
    /^\d\d:\d\d:\d\d old reconnecting \(attempt 2 in \d\.\d s\): .*SIGKILL.*\r\n\d\d:\d\d:\d\d old connecting \(attempt 2\)\r\n\d\d:\d\d:\d\d old connected \(2025-11-25, \d+ tools\)\r\n/,
  )
})

it('adds, changes and removes servers at an edit, and leaves the others alone', async () => {
  await using http = await startHttpFixture()
  await using composition = await compose([])
  const journal = join(composition.folder, 'journal')
  const changedJournal = join(composition.folder, 'changed')
  const kept = stdioRow('kept', stdioFixture('legacy', { journal }))
  const changed = (more: object) => ({
    ...stdioRow('x', stdioFixture('legacy', { journal: changedJournal, ...more })),
    id: 'changed',
  })
  await composition.write([kept, changed({})])
  await using running = startOnTerminal(['run'], { cwd: composition.folder, env: { NO_COLOR: '1' } })
  await running.until(/Ctrl-C ends everything/)
  const [pid] = startedPids(journal)
  news(running)

  await composition.write([kept, changed({}), httpRow('added', http.url)])
  await running.until(/added connected/)
  expect(startedPids(changedJournal)).toHaveLength(1)
  news(running)

  await composition.write([
    kept,
    changed({ serverInfo: { name: 'other', version: '2' } }),
    httpRow('added', http.url),
  ])
  await running.until(/x connected/)
  expect(startedPids(changedJournal)).toHaveLength(2)
  expect(startedPids(changedJournal).map(isAlive)).toEqual([false, true])
  expect(news(running)).not.toMatch(/added|kept/)

  await composition.write([kept, httpRow('added', http.url)])
  await running.until(/x disposed/)
  expect(news(running)).not.toMatch(/added|kept/)

  expect(startedPids(journal)).toEqual([pid])
  expect(isAlive(pid!)).toBe(true)
  running.process.stdin?.write('\u{3}')
  expect(await running.ended).toBe(0)
})

it('takes over what was edited while a server started', async () => {
  await using composition = await compose([])
  const journal = join(composition.folder, 'journal')
  await composition.write([stdioRow('slow', stdioFixture('never-answers', { journal }))])
  const args = ['run', '--timeout', '6000']
  await using running = startOnTerminal(args, { cwd: composition.folder, env: { NO_COLOR: '1' } })
  await eventually(() => expect(startedPids(journal)).toHaveLength(1))
  await composition.write([stdioRow('slow', stdioFixture('legacy'))])
  await running.until(/Ctrl-C ends everything[^]*slow connected/)
  running.process.stdin?.write('\u{3}')
  expect(await running.ended).toBe(0)
})

it('tells what is wrong with an edit, keeps what runs, and takes the next one', async () => {
  await using composition = await compose([])
  const journal = join(composition.folder, 'journal')
  const kept = stdioRow('kept', stdioFixture('legacy', { journal }))
  await composition.write([kept])
  await using running = startOnTerminal(['run'], { cwd: composition.folder, env: { NO_COLOR: '1' } })
  await running.until(/Ctrl-C ends everything/)
  news(running)

  await composition.write('a: b\n c: d')
  await running.until(/error: cordis\.yml: bad indentation of a mapping entry \(2:3\)/)
  await composition.write([{ ...kept, config: { ...kept.config, serverName: 'not a name' } }])
  await running.until(/error: mcp-client\(not a name\): invalid configuration: serverName/)
  await composition.write([kept, { ...stdioRow('other', stdioFixture('legacy')), id: kept.id }])
  await running.until(/error: cordis\.yml: row 5 has the id "mcp-kept", as row 4 has/)
  await composition.write([{ ...kept, name: '@deepseek-ai/dsh-mcp-resources' }])
  await running.until(
    /error: cordis\.yml: row 4 names another plugin than the row of its id that runs; give it/,
  )
  expect(news(running)).not.toMatch(/\d kept /)
  expect(startedPids(journal)).toHaveLength(1)
  await composition.write([kept, { id: 'absent', name: '@deepseek-ai/dsh-not-there' }])
  await running.until(/error: Cannot find package '@deepseek-ai\/dsh-not-there'/)

  await composition.write([kept, stdioRow('later', stdioFixture('modern'))])
  await running.until(/later connected/)
})

it('goes on when an edit makes a row fail, whichever plugin it is of', async () => {
  await using composition = await compose([])
  const plugin = `export const name = 'other'; export function apply(ctx, { fails }) { if (fails) throw new Error('told to fail') }`
  await writeFile(join(composition.folder, 'other.mjs'), plugin)
  const other = (fails: boolean) => ({ id: 'other', name: './other.mjs', config: { fails } })
  const old = stdioRow('old', stdioFixture('legacy'))
  const required = (command: string) =>
    stdioRow('must', { ...stdioFixture('modern'), command }, { failOnStartupError: true })
  await composition.write([old, required(process.execPath), other(false)])
  await using running = startOnTerminal(['run'], { cwd: composition.folder, env: { NO_COLOR: '1' } })
  await running.until(/Ctrl-C ends everything/)
  news(running)

  await composition.write([old, required(process.execPath), other(true)])
  await running.until(/error: told to fail/)
  await composition.write([old, required('/not/there'), other(true)])
  await running.until(/error: mcp-client\(must\): the command "\/not\/there" was not found/)
  await composition.write([old, { ...required(process.execPath), config: { ...old.config } }, other(true)])
  await running.until(
    /error: mcp-client\(old\): another entry of the same scope already uses serverName "old"/,
  )
  await composition.write([old, required(process.execPath), other(false)])
  await running.until(/must connected/)
  expect(running.process.exitCode).toBeNull()
  expect(news(running)).not.toMatch(/\d old /)
})

it('follows edits also where the composition mounts the watcher itself', async () => {
  await using composition = await compose([])
  const watcher = [
    { id: 'timer', name: '@deepseek-ai/cordis-plugin-timer' },
    { id: 'hmr', name: '@deepseek-ai/cordis-plugin-hmr', config: { root: ['cordis.yml'] } },
  ]
  await composition.write(watcher)
  await using running = startOnTerminal(['run'], { cwd: composition.folder, env: { NO_COLOR: '1' } })
  await running.until(/configures no MCP server[^]*Ctrl-C ends everything/)
  await composition.write([...watcher, stdioRow('later', stdioFixture('modern'))])
  expect(await running.until(/later connected \((\S+), /)).toHaveProperty('1', '2026-07-28')
})
