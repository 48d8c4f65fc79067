import { expect, it, onTestFinished, vi } from 'vitest'
import { createEntryLog } from '../../src/diagnostics/entry-log.ts'
import { host } from '../support.ts'

it('every line names its entry, on a logger that all entries share', async () => {
  const at = await host()
  const log = createEntryLog(at.ctx, 'files')
  log.debug('a %s of %d', 'part', 2)
  log.info('plain')
  log.warn('%s', '100 %s')
  log.error('last')
  expect(at.logs.find({ name: 'mcp-client' })).toEqual([
    { name: 'mcp-client', level: 'debug', text: 'mcp-client(files): a part of 2' },
    { name: 'mcp-client', level: 'info', text: 'mcp-client(files): plain' },
    { name: 'mcp-client', level: 'warn', text: 'mcp-client(files): 100 %s' },
    { name: 'mcp-client', level: 'error', text: 'mcp-client(files): last' },
  ])
})

it('errors that a server can cause at will fill a bounded part of it, and only those are described', async () => {
  const at = await host()
  const log = createEntryLog(at.ctx, 'files')
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const describe = vi.fn(() => '100 %s')
  for (let error = 0; error < 1000; error++) log.serverError(describe)
  expect(describe).toHaveBeenCalledTimes(100)
  const texts = () => at.logs.find({ name: 'mcp-client', level: 'debug' }).map(({ text }) => text)
  expect(texts()).toEqual(Array.from({ length: 100 }, () => 'mcp-client(files): 100 %s'))
  vi.advanceTimersByTime(10_001)
  log.serverError(() => 'later')
  expect(texts().slice(100)).toEqual([
    'mcp-client(files): [900 errors of the connection were not logged]',
    'mcp-client(files): later',
  ])
})
