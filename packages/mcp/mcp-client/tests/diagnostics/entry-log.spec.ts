import { expect, it } from 'vitest'
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
