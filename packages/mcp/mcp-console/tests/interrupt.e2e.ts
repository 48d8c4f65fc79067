/** Ctrl-C: a call is cancelled at its server, `run` ends everything, and a second one does not wait. */
import { join } from 'node:path'
import { readJournal, startedPids, startHttpFixture, stdioFixture } from '@dsh-mcp/fixtures'
import { descendants, eventually, isAlive } from '@dsh-mcp/host'
import { describe, expect, it } from 'vitest'
import { compose, httpRow, start, startOnTerminal, stdioRow } from './support.ts'

describe('a call', () => {
  it('is cancelled at an HTTP server', async () => {
    // In this era a cancellation is a message of its own, and not just the end of a connection.
    await using http = await startHttpFixture({ era: 'legacy' })
    await using composition = await compose([httpRow('web', http.url)])
    await using running = start(['call', 'mcp__web__hold', '--json'], { cwd: composition.folder })
    await eventually(() => expect(http.toolbox.calls).toHaveLength(1))
    running.process.kill('SIGINT')
    expect(await running.ended).toBe(130)
    expect(http.requestsFor('notifications/cancelled')).toHaveLength(1)
    expect(http.toolbox.cancellations).toMatchObject([{ name: 'hold' }])
    expect(JSON.parse(running.stdout)).toEqual({
      error: 'the call of mcp__web__hold was interrupted and cancelled',
    })
  })

  it('is cancelled at a local server before the server is ended', async () => {
    await using composition = await compose([])
    const journal = join(composition.folder, 'journal')
    await composition.write([stdioRow('old', stdioFixture('legacy', { journal }))])
    await using running = start(['call', 'mcp__old__hold'], { cwd: composition.folder })
    const methods = () =>
      readJournal(journal).flatMap((entry) => (entry.event === 'message' ? [entry.message.method] : []))
    await eventually(() => expect(methods()).toContain('tools/call'))
    running.process.kill('SIGTERM')
    expect(await running.ended).toBe(143)
    expect(methods()).toContain('notifications/cancelled')
    expect(startedPids(journal).filter(isAlive)).toEqual([])
  })
})

describe('the start', () => {
  it('can be interrupted', async () => {
    await using composition = await compose([])
    const journal = join(composition.folder, 'journal')
    await composition.write([stdioRow('slow', stdioFixture('legacy', { journal, delayStartMs: 60_000 }))])
    await using running = start(['status'], { cwd: composition.folder })
    await eventually(() => expect(startedPids(journal)).toHaveLength(1))
    running.process.kill('SIGINT')
    expect(await running.ended).toBe(130)
    expect(startedPids(journal).filter(isAlive)).toEqual([])
  })
})

describe('run on a terminal', () => {
  it('ends with 0 at Ctrl-C, and leaves no process', async () => {
    await using composition = await compose([])
    const journal = join(composition.folder, 'journal')
    await composition.write([
      stdioRow('old', stdioFixture('legacy', { journal })),
      // A wrapper with a helper, as npx and shells are.
      stdioRow('wrapped', wrapped(stdioFixture('modern', { journal }))),
    ])
    await using running = startOnTerminal(['run'], { cwd: composition.folder })
    await running.until(/Ctrl-C ends everything/)
    const processes = descendants(running.process.pid)
    expect(processes.length).toBeGreaterThanOrEqual(4)
    running.process.stdin?.write('\u{3}')
    expect(await running.ended).toBe(0)
    expect(processes.filter(({ pid }) => isAlive(pid))).toEqual([])
    expect(startedPids(journal).filter(isAlive)).toEqual([])
  })

  it('ends at once at a second Ctrl-C, and still leaves no process', async () => {
    await using composition = await compose([])
    const journal = join(composition.folder, 'journal')
    await composition.write([stdioRow('stubborn', stubborn(journal))])
    await using running = startOnTerminal(['run', '--timeout', '1500'], { cwd: composition.folder })
    await running.until(/Ctrl-C ends everything/)
    const processes = descendants(running.process.pid)
    running.process.stdin?.write('\u{3}')
    await running.until(/press Ctrl-C again/)
    running.process.stdin?.write('\u{3}')
    expect(await running.ended).toBe(130)
    await eventually(() => expect(processes.filter(({ pid }) => isAlive(pid))).toEqual([]))
  })

  it('prints the table with colours, but not against NO_COLOR', async () => {
    await using composition = await compose([stdioRow('old', stdioFixture('legacy'))])
    const green = '\u{1b}[32mconnected'
    await using colored = startOnTerminal(['run', '--once'], { cwd: composition.folder })
    expect(await colored.ended).toBe(0)
    expect(colored.stdout).toContain(green)
    await using plain = startOnTerminal(['run', '--once'], {
      cwd: composition.folder,
      env: { NO_COLOR: '1' },
    })
    expect(await plain.ended).toBe(0)
    expect(plain.stdout).not.toContain('\u{1b}[')
  })
})

function wrapped({ command, args }: { command: string; args: string[] }) {
  const line = [command, ...args].map((word) => `'${word}'`).join(' ')
  return { command: 'sh', args: ['-c', `sleep 1000 & ${line}`] }
}

/** Ignores the end of its input and every signal that can be ignored. */
function stubborn(journal: string) {
  const script = `
    process.on('SIGTERM', () => {}); process.on('SIGINT', () => {}); process.stdin.resume(); setInterval(() => {}, 1000)
    require('fs').appendFileSync(${JSON.stringify(journal)}, JSON.stringify({ event: 'start', pid: process.pid }) + '\\n')`
  return { command: process.execPath, args: ['-e', script] }
}
