import { spawn } from 'node:child_process'
import { createServer } from 'node:net'
import { Script } from 'node:vm'
import { afterEach, expect, it, onTestFinished } from 'vitest'
import { hasLeaks, openLedger, type Ledger } from '../src/ledger.ts'
import { EntryMark } from '../src/processes.ts'

let ledger: Ledger
const open = () => {
  ledger = openLedger()
  return ledger
}
afterEach(() => ledger[Symbol.dispose]())

it('nothing is found where nothing is left, and what is about to go is waited for', async () => {
  const { leaks } = open()
  setTimeout(() => {}, 50)
  expect(hasLeaks(await leaks())).toBe(false)
})

it('a process is found by its environment, in whatever session it is', async () => {
  const { leaks } = open()
  const mark = new EntryMark()
  const env = { ...process.env, ...mark.env }
  const child = spawn('sleep', ['600'], { env, detached: true, stdio: 'ignore' })
  onTestFinished(() => void child.kill('SIGKILL'))
  child.unref()
  expect(mark.processes()).toMatchObject([{ pid: child.pid, tree: '' }])
  expect(new EntryMark().processes()).toEqual([])
  expect((await leaks()).processes).toEqual([`${child.pid} sleep 600`])
})

it('a handle is found', async () => {
  const { leaks } = open()
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  expect((await leaks()).handles).toContain('TCPServerWrap')
})

it('a listener is found, and none that was there before', async () => {
  const listener = () => {}
  process.on('SIGUSR2', listener)
  onTestFinished(() => void process.off('SIGUSR2', listener).off('SIGWINCH', listener))
  const { leaks } = open()
  process.on('SIGWINCH', listener)
  expect((await leaks()).listeners).toEqual(['SIGWINCH'])
})

it('a timer is found by the code that set it, and none from before the ledger was rebased', async () => {
  // Timers of this package are its own bounds, so that these are set by other code.
  const set = new Script('(set) => set(() => {}, 60_000).unref()', { filename: '/elsewhere/plugin.js' })
  const setTimer = set.runInThisContext() as (set: typeof setTimeout) => NodeJS.Timeout
  const { leaks, rebase } = open()
  const timers = [setTimer(setTimeout)]
  onTestFinished(() => timers.forEach(clearTimeout))
  await rebase()
  expect((await leaks()).timers).toEqual([])
  timers.push(setTimer(setTimeout))
  expect((await leaks()).timers).toMatchObject([expect.stringContaining('/elsewhere/plugin.js')])
})
