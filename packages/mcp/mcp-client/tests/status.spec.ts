import { describe, expect, it } from 'vitest'
import { emitStatus, type McpClientStatus } from '../src/status.ts'
import { host, turns } from './support.ts'

const status: McpClientStatus = { serverName: 'one', status: 'connected', toolCount: 3 }

describe('a status', () => {
  it('is told to every listener on the bus, whatever context it listens on', async () => {
    const at = await host()
    const plugin = await at.mount({ name: 'plugin', apply: () => {} })
    const heard: unknown[] = []
    plugin.ctx.on('mcp-client/status', (told) => void heard.push(told))
    at.scope().ctx.on('mcp-client/status', (told) => void heard.push(told))
    emitStatus(plugin.ctx, status)
    expect(heard).toEqual([status, status])
    expect(at.statuses.all()).toEqual([status])
  })

  it('reaches the listeners after one that throws or rejects, and the log names the failure', async () => {
    const at = await host()
    const heard: unknown[] = []
    at.ctx.on('mcp-client/status', () => {
      throw new Error('a broken observer')
    })
    at.ctx.on('mcp-client/status', async () => {
      throw new Error('a broken promise')
    })
    at.ctx.on('mcp-client/status', (told) => void heard.push(told))
    emitStatus(at.ctx, status)
    expect(heard).toEqual([status])
    await turns()
    const warnings = at.logs.find({ level: 'warn', text: 'a listener of mcp-client/status failed' })
    expect(warnings.map(({ text }) => text)).toEqual([
      expect.stringContaining('a broken observer'),
      expect.stringContaining('a broken promise'),
    ])
  })

  it('does not fail the entry when an observer of all events does', async () => {
    const at = await host()
    at.ctx.on('internal/dispatch', (_mode, name) => {
      if (name === 'mcp-client/status') throw new Error('a broken debugger')
    })
    expect(() => emitStatus(at.ctx, status)).not.toThrow()
    expect(at.logs.find({ level: 'warn', text: 'a broken debugger' })).toHaveLength(1)
  })
})
