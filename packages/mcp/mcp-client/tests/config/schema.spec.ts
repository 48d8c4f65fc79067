import { describe, expect, it } from 'vitest'
import { NUMBER_LIMITS } from '../../src/config/limits.ts'
import { McpClientConfigError, resolveConfig } from '../../src/config/resolve.ts'
import * as mcpClient from '../../src/index.ts'
import { host } from '../support.ts'

const { Config } = mcpClient
const stdio = { serverName: 'files', transport: 'stdio', command: 'run' } as const
const http = { serverName: 'web', transport: 'streamable-http', url: 'https://example.test/mcp' } as const

const refused: readonly [string, unknown][] = [
  ['no mapping', undefined],
  ['an empty mapping', {}],
  ['an unknown transport', { ...stdio, transport: 'sse' }],
  ['an unknown field', { ...stdio, comand: 'run' }],
  ['a field of the other transport', { ...http, command: 'run' }],
  ['a number out of bounds', { ...stdio, toolCallTimeoutMs: 0 }],
  ['delays that contradict each other', { ...stdio, reconnect: { initialDelayMs: 2, maxDelayMs: 1 } }],
  ['a bad header', { ...http, headers: { 'A B': 'secret' } }],
]

function messageOf(action: () => unknown): string {
  try {
    action()
  } catch (error) {
    return (error as Error).message
  }
  throw new Error('nothing was thrown')
}

describe('what the loader validates with', () => {
  it.each(refused)('refuses %s in the words of the resolution', (_, written) => {
    const message = messageOf(() => resolveConfig(written))
    expect(Config['~standard'].validate(written)).toEqual({ issues: [{ message }] })
  })

  it.each([
    ['a local program', stdio],
    ['a remote server', http],
    ['a field without a value', { ...stdio, env: { A: null }, cwd: undefined }],
  ])('passes %s on as it was written', (_, written) => {
    expect(Config['~standard'].validate(written)).toEqual({ value: written })
    expect(Config['~standard']).toMatchObject({ version: 1, vendor: 'schemastery' })
  })

  it('does not hide an error that is not a refusal', () => {
    const broken = {
      get serverName(): string {
        throw new RangeError('a getter failed')
      },
    }
    expect(() => Config['~standard'].validate(broken)).toThrow(RangeError)
  })
})

describe('the schema tree', () => {
  it('has the defaults of the resolution', () => {
    const { transport, serverName, command, args, env, ...common } = Config(
      stdio,
    ) as Required<mcpClient.StdioConfig>
    const { endpoint, omitted, serverName: _, ...resolved } = resolveConfig(stdio)
    expect({ transport, serverName, command, args, env }).toEqual({ ...stdio, args: [], env: {} })
    expect(common).toEqual(resolved)
    expect(omitted).toEqual([])
    expect(endpoint.transport).toBe('stdio')
    expect(Config(http)).toMatchObject({
      url: http.url,
      headers: {},
    })
  })

  it.each(Object.entries(NUMBER_LIMITS))('has the bounds of the resolution for %s', (path, { min, max }) => {
    const [field = '', inner] = path.split('.')
    const withValue = (value: number) =>
      ({
        ...stdio,
        [field]: inner === undefined ? value : { maxDelayMs: max, [inner]: value },
      }) as mcpClient.StdioConfig
    for (const value of [min - 1, max + 1]) {
      expect(() => Config(withValue(value))).toThrow(new RegExp(field, 'u'))
      expect(() => resolveConfig(withValue(value))).toThrow(McpClientConfigError)
    }
    for (const value of [min, max]) {
      expect(() => Config(withValue(value))).not.toThrow()
      expect(() => resolveConfig(withValue(value))).not.toThrow()
    }
  })

  it('takes 0 for a check of life that is switched off, and nothing between that and the least interval', () => {
    expect(Config({ ...stdio, livenessIntervalMs: 0 })).toMatchObject({ livenessIntervalMs: 0 })
    expect(() => Config({ ...stdio, livenessIntervalMs: 1 })).toThrow(/livenessIntervalMs/u)
  })

  it('marks what is secret, so that a configuration panel hides it', () => {
    const [local, remote] = Config.list ?? []
    expect(local?.dict?.['env']?.inner?.meta).toMatchObject({ role: 'secret' })
    expect(remote?.dict?.['headers']?.inner?.meta).toMatchObject({ role: 'secret' })
  })

  it('writes a configuration back without its defaults, as the loader does when a panel changes an entry', () => {
    const written = { ...stdio, args: [], failOnStartupError: true } as mcpClient.StdioConfig
    expect(Config.simplify(Config(written))).toEqual({ ...stdio, failOnStartupError: true })
  })
})

describe('a refused entry', () => {
  it.each(refused)(
    'fails the mount with the same message for %s, and registers nothing',
    async (_, written) => {
      const at = await host()
      const message = messageOf(() => resolveConfig(written))
      await expect(at.mount(mcpClient, written)).rejects.toThrow(message)
      expect(at.toolNames()).toEqual([])
      expect(at.toolChanges).toBe(0)
      expect(at.statuses.all()).toEqual([])
    },
  )

  it('fails just as much when a program applies the plugin without the schema', async () => {
    const at = await host()
    const { Config: _, ...bare } = mcpClient
    const written = { ...stdio, toolCallTimeoutMs: 0 }
    const message = messageOf(() => resolveConfig(written))
    await expect(at.mount(bare, written)).rejects.toThrow(message)
    expect(at.statuses.all()).toEqual([])
  })

  it('keeps its secrets out of the error and the log', async () => {
    const at = await host()
    const written = {
      ...http,
      url: 'ftp://user:hunter2@example.test/?key=hunter2',
      headers: { Authorization: 'hunter2\n', 'X: hunter2': 'x', 'X-N': 5 },
      toolCallTimeoutMs: -1,
    }
    const error = await at.mount(mcpClient, written).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ message: expect.stringContaining('headers.Authorization') })
    expect(String(error)).not.toContain('hunter2')
    expect(at.logText()).toContain('headers.Authorization')
    expect(at.logText()).not.toContain('hunter2')
  })
})
