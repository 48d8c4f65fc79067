import { describe, expect, it } from 'vitest'
import * as mcpClient from '../src/index.ts'
import { host, mount } from './support.ts'

/** An entry that needs no process: its command does not exist, and its next attempt is far away. */
const entry = (serverName: string, more: Partial<mcpClient.StdioConfig> = {}): mcpClient.StdioConfig => ({
  serverName,
  transport: 'stdio',
  command: '/nonexistent/server',
  reconnect: { initialDelayMs: 3_600_000, maxDelayMs: 3_600_000 },
  ...more,
})

const taken =
  'mcp-client(one): another entry of the same scope already uses serverName "one"; give this entry another serverName, or remove one of the two'

describe('a server name', () => {
  it('is held by one entry of a scope; the later one fails and leaves the first alone', async () => {
    const at = await host()
    await mount(at, entry('one'))
    await expect(mount(at, entry('one'))).rejects.toThrow(taken)
    expect(at.statuses.kinds('one')).toEqual(['connecting', 'reconnecting'])
    expect(at.logText()).toContain(taken)
  })

  it('may be used by any number of entries under different names', async () => {
    const at = await host()
    await Promise.all(['one', 'two', 'three', '__proto__'].map((name) => mount(at, entry(name))))
    expect(at.statuses.kinds('__proto__')).toEqual(['connecting', 'reconnecting'])
  })

  it('may be used again in another scope, and in the scope of no agent', async () => {
    const at = await host()
    const [first, second] = [at.scope('first'), at.scope('second')]
    await mount(at, entry('one'))
    await mount(at, entry('one'), first.ctx)
    await mount(at, entry('one'), second.ctx)
    await expect(mount(at, entry('one'), second.ctx)).rejects.toThrow(taken)
    expect(at.statuses.kinds('one')).not.toContain('disposed')
  })

  it('is the same for all contexts outside of every agent', async () => {
    const at = await host()
    await mount(at, entry('one'))
    const group = await at.mount({ name: 'group', apply: () => {} })
    await expect(mount(at, entry('one'), group.ctx)).rejects.toThrow(taken)
  })

  it('is free in another host of the same process', async () => {
    const [one, other] = [await host(), await host()]
    await mount(one, entry('one'))
    await mount(other, entry('one'))
    expect(other.statuses.kinds('one')).toEqual(['connecting', 'reconnecting'])
  })

  it('is free again after the entry is disposed', async () => {
    const at = await host()
    const fiber = await mount(at, entry('one'))
    await fiber.dispose()
    await mount(at, entry('one'))
    expect(at.statuses.kinds('one').at(-1)).toBe('reconnecting')
  })

  it('is free again after a start that failed', async () => {
    const at = await host()
    await expect(mount(at, entry('one', { failOnStartupError: true }))).rejects.toThrow(
      /^mcp-client\(one\): the command .* was not found/,
    )
    await mount(at, entry('one'))
    expect(at.statuses.kinds('one').at(-1)).toBe('reconnecting')
  })

  it('is not taken by an entry whose configuration is refused', async () => {
    const at = await host()
    await expect(mount(at, entry('one', { toolCallTimeoutMs: 0 }))).rejects.toThrow('toolCallTimeoutMs')
    await mount(at, entry('one'))
    expect(at.statuses.kinds('one').at(-1)).toBe('reconnecting')
  })
})

describe('an entry that takes the place of one that is still ending', () => {
  it('waits for its end, as when HMR replaces the plugin', async () => {
    const at = await host()
    await mount(at, entry('one'))
    at.ctx.registry.delete(mcpClient)
    await at.mount({ ...mcpClient }, entry('one'))
    expect(at.statuses.kinds('one')).toEqual([
      'connecting',
      'reconnecting',
      'disposed',
      'disposed',
      'connecting',
      'reconnecting',
    ])
  })

  it('is itself disposed without ever starting, when it is told so meanwhile', async () => {
    const at = await host()
    const first = await mount(at, entry('one'))
    const ending = first.dispose()
    const second = at.ctx.plugin(mcpClient, entry('one'))
    await Promise.resolve()
    await Promise.all([ending, second.dispose()])
    expect(at.statuses.kinds('one')).toEqual(['connecting', 'reconnecting', 'disposed', 'disposed'])
    expect(at.logs.find({ level: 'error' }).filter(({ text }) => !text.includes('no such file'))).toEqual([])
    await mount(at, entry('one'))
    expect(at.statuses.kinds('one').at(-1)).toBe('reconnecting')
  })
})
