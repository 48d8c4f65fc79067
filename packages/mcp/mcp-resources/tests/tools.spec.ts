import { CallId } from '@deepseek-ai/dsh-llm'
import type { ToolExecution, ToolExecutionResult } from '@deepseek-ai/dsh-tools'
import { startHost } from '@dsh-mcp/host'
import type { TestHost } from '@dsh-mcp/host'
import { describe, expect, it } from 'vitest'
import McpResourceRuntime from '../src/index.ts'
import { FixedProvider, mountServer, read, resourcesOf, TOOLS } from './support.ts'

async function hostWith(server: string, provider: FixedProvider): Promise<TestHost> {
  const host = await startHost()
  await host.mount(McpResourceRuntime)
  await mountServer(host, server, provider)
  return host
}

describe('a call', () => {
  it.each([
    ['list_mcp_resources', {}, { method: 'resources/list' }],
    ['list_mcp_resources', { cursor: 'p2' }, { method: 'resources/list', cursor: 'p2' }],
    ['list_mcp_resources', { cursor: '' }, { method: 'resources/list', cursor: '' }],
    ['list_mcp_resource_templates', {}, { method: 'resources/templates/list' }],
    ['list_mcp_resource_templates', { cursor: 'p2' }, { method: 'resources/templates/list', cursor: 'p2' }],
    ['read_mcp_resource', { uri: 'file:///a b' }, { method: 'resources/read', uri: 'file:///a b' }],
    ['read_mcp_resource', { uri: 'x', cursor: 'p2', more: 1 }, { method: 'resources/read', uri: 'x' }],
  ])('of %s with %j asks for %j', async (name, args, request) => {
    const provider = new FixedProvider()
    await using host = await hostWith('docs', provider)
    const result = await host.call(name, { server: 'docs', ...args })
    expect(result.isError).toBe(false)
    expect(provider.requests).toEqual([request])
    expect(Object.keys(provider.requests[0]!)).toEqual(Object.keys(request))
  })

  it('gives programs the complete JSON and the model its text', async () => {
    const value = read({ uri: 'a:b', blob: 'TWFu', mimeType: 'image/png' }, { uri: 'a:c', text: 'hi' })
    await using host = await hostWith('docs', new FixedProvider(value))
    const result = await host.call('read_mcp_resource', { server: 'docs', uri: 'a:b' })
    expect(result).toMatchObject({ isError: false, value })
    expect(result.content).toEqual([
      {
        type: 'text',
        text:
          'MCP server: docs\n{\n  "contents": [\n' +
          '    {"uri":"a:b","blob":"[image/png, 3 bytes of binary data, not shown]","mimeType":"image/png"},\n' +
          '    {"uri":"a:c","text":"[2 characters, below]"}\n  ]\n}' +
          '\n\n[content 2: a:c]\nhi',
      },
    ])
  })

  it.each(TOOLS)('of %s may run beside other calls', async (name) => {
    await using host = await hostWith('docs', new FixedProvider())
    const mode = host.ctx.tools.executionMode({
      callId: CallId('1'),
      name,
      arguments: { server: 'docs' },
      signal: new AbortController().signal,
    })
    expect(mode).toEqual({ kind: 'parallel' })
  })

  it('does not wait for another one', async () => {
    const both = Promise.withResolvers<void>()
    let waiting = 0
    const provider = new FixedProvider(async () => {
      waiting += 1
      if (waiting === 2) both.resolve()
      await both.promise
      return {}
    })
    await using host = await hostWith('docs', provider)
    const results = await Promise.all([
      host.call('list_mcp_resources', { server: 'docs' }),
      host.call('read_mcp_resource', { server: 'docs', uri: 'a:b' }),
    ])
    expect(results.map(({ isError }) => isError)).toEqual([false, false])
  })

  it('hands the execution on as it is, with the caller', async () => {
    const provider = new FixedProvider()
    await using host = await hostWith('docs', provider)
    const agent = host.scope('agent')
    const executions: ToolExecution[] = []
    host.ctx.on('tools/execute', async (exec, next) => {
      executions.push(exec)
      return await next()
    })
    await host.call('list_mcp_resources', { server: 'docs' }, { agent: agent.key })
    expect(provider.executions).toHaveLength(1)
    expect(provider.executions[0]).toBe(executions[0])
    expect(provider.executions[0]!.agent).toBe(agent.key)
  })

  it('cancels its request', async () => {
    const asked = Promise.withResolvers<void>()
    const provider = new FixedProvider(async (_, exec) => {
      const { promise, reject } = Promise.withResolvers<never>()
      exec.signal.addEventListener('abort', () => reject(exec.signal.reason as Error))
      asked.resolve()
      return await promise
    })
    await using host = await hostWith('docs', provider)
    const controller = new AbortController()
    const call = host.call('read_mcp_resource', { server: 'docs', uri: 'a:b' }, { signal: controller.signal })
    await asked.promise
    controller.abort(new Error('the turn was cancelled'))
    const result = await call
    expect(host.text(result)).toBe('Error: MCP server "docs", resources/read: the turn was cancelled')
    expect(result.isError).toBe(true)
  })

  it('that is cancelled is no success, even when its provider does not care', async () => {
    const controller = new AbortController()
    const provider = new FixedProvider(() => {
      controller.abort()
      return {}
    })
    await using host = await hostWith('docs', provider)
    const result = await host.call('list_mcp_resources', { server: 'docs' }, { signal: controller.signal })
    expect(result).toMatchObject({ isError: true, error: { info: { code: 'ABORTED' } } })
  })

  it('that is running survives the unloading of the service', async () => {
    const asked = Promise.withResolvers<void>()
    const answer = Promise.withResolvers<string>()
    const provider = new FixedProvider(async () => {
      asked.resolve()
      return await answer.promise
    })
    await using host = await startHost()
    const service = await host.mount(McpResourceRuntime)
    await mountServer(host, 'docs', provider)
    const call = host.call('list_mcp_resources', { server: 'docs' })
    await asked.promise
    await service.dispose()
    answer.resolve('late')
    expect(await call).toMatchObject({ isError: false, value: 'late' })
  })
})

describe('wrong arguments', () => {
  it.each([
    ['list_mcp_resources', {}, 'missing required'],
    ['list_mcp_resources', { server: 7 }, '"server" must be a string'],
    ['list_mcp_resources', { server: 'docs', cursor: null }, '"cursor" must be a string'],
    ['read_mcp_resource', { server: 'docs' }, 'missing required'],
    ['read_mcp_resource', { server: 'docs', uri: ['a:b'] }, '"uri" must be a string'],
    ['read_mcp_resource', 'docs', 'must be an object'],
  ])('of %s, %j, are explained with the names to choose from', async (name, args, reason) => {
    const provider = new FixedProvider()
    await using host = await hostWith('docs', provider)
    host.ctx.mcpResources.register('a', provider)
    const result = await host.call(name, args)
    expect(host.text(result)).toContain('Error: invalid arguments: ')
    expect(host.text(result)).toContain(reason)
    expect(host.text(result)).toMatch(/; servers to choose from: \["a","docs"\]$/)
    expect(result).toMatchObject({ isError: true, error: { info: { code: 'INVALID_ARGS' } } })
    expect(provider.requests).toEqual([])
  })

  it.each([
    ['Docs', '"Docs"'],
    ['', '""'],
    ['__proto__', '"__proto__"'],
    ['a\u202e\nb', String.raw`"a\u{202e}\nb"`],
    ['x'.repeat(300), `"${'x'.repeat(180)}… (+121 characters)`],
  ])('name no server: %j', async (server, shown) => {
    const provider = new FixedProvider()
    await using host = await hostWith('docs', provider)
    const agent = host.scope('agent')
    resourcesOf(agent.ctx).register('Zoo', provider)
    const result = await host.call('read_mcp_resource', { server, uri: 'a:b' }, { agent: agent.key })
    expect(host.text(result)).toBe(
      `Error: unknown MCP server ${shown}; servers to choose from: ["Zoo","docs"]`,
    )
    expect(provider.requests).toEqual([])
  })
})

describe('a failing provider', () => {
  it.each([
    [
      'an error',
      new Error('the server is down; next attempt in 4 s'),
      'the server is down; next attempt in 4 s',
    ],
    ['a string', 'no such thing', 'no such thing'],
    ['nothing', undefined, 'undefined'],
    ['hostile text', new Error('a\u202e\nb\x1b[2J'), 'a\\u{202e}\nb\\u{1b}[2J'],
    ['a very long text', new Error('x'.repeat(5_000_000)), `${'x'.repeat(1977)}… (+4998023 characters)`],
  ])('that throws %s fails the call in the name of the server', async (_, thrown, reason) => {
    await using host = await hostWith(
      'docs',
      new FixedProvider(() => {
        // oxlint-disable-next-line typescript/only-throw-error -- a provider is foreign code
        throw thrown
      }),
    )
    const result = await host.call('list_mcp_resource_templates', { server: 'docs' })
    expect(host.text(result)).toBe(`Error: MCP server "docs", resources/templates/list: ${reason}`)
    expect(result.isError).toBe(true)
  })

  it.each([
    ['nothing', () => undefined],
    ['a date', () => new Date(0)],
    ['a function', () => ({ contents: [() => 0] })],
  ])('that gives %s instead of JSON fails the call', async (_, answer) => {
    await using host = await hostWith('docs', new FixedProvider(answer))
    const result = await host.call('read_mcp_resource', { server: 'docs', uri: 'a:b' })
    expect(host.text(result)).toMatch(/^Error: tool "read_mcp_resource" returned invalid output: /)
  })

  it('that gives a circular object fails the call', async () => {
    const circle: Record<string, unknown> = {}
    circle['self'] = circle
    await using host = await hostWith('docs', new FixedProvider(() => circle))
    const result = await host.call('list_mcp_resources', { server: 'docs' })
    expect(host.text(result)).toMatch(
      /^Error: MCP server "docs", resources\/list: Converting circular structure/,
    )
  })
})

describe('policies of the host', () => {
  it('replace the value, and the text with it', async () => {
    await using host = await hostWith('docs', new FixedProvider(read({ uri: 'a:b', text: 'secret' })))
    host.ctx.on('tools/post-execute', async () => ({
      kind: 'accept',
      value: read({ uri: 'a:b', text: 'redacted' }),
    }))
    const result = await host.call('read_mcp_resource', { server: 'docs', uri: 'a:b' })
    expect(host.text(result)).toMatch(/^MCP server: docs\n[^]*\[content 1: a:b\]\nredacted$/)
  })

  it('replace the value before the call is made', async () => {
    const provider = new FixedProvider()
    await using host = await hostWith('docs', provider)
    host.ctx.on(
      'tools/execute',
      async () => ({ isError: false, value: [], content: [] }) satisfies ToolExecutionResult,
    )
    expect(host.text(await host.call('list_mcp_resources', { server: 'docs\n' }))).toBe(
      'MCP server: docs\\n\n[]',
    )
    expect(provider.requests).toEqual([])
  })

  it('replace a value that was none', async () => {
    await using host = await hostWith('docs', new FixedProvider(() => new Date(0)))
    host.ctx.on('tools/execute', async (_, next) => {
      expect((await next()).isError).toBe(true)
      return { isError: false, value: 'instead', content: [] } satisfies ToolExecutionResult
    })
    expect(host.text(await host.call('list_mcp_resources', { server: 'docs' }))).toBe(
      'MCP server: docs\n"instead"',
    )
  })

  it('repeat the call, and the last answer counts', async () => {
    let calls = 0
    await using host = await hostWith('docs', new FixedProvider(() => ({ call: ++calls })))
    host.ctx.on('tools/execute', async (_, next) => {
      await next()
      return await next()
    })
    const result = await host.call('list_mcp_resources', { server: 'docs' })
    expect(result.value).toEqual({ call: 2 })
    expect(host.text(result)).toContain('"call": 2')
  })
})

describe('a very large result', () => {
  const text = 'line of text\n'.repeat(400_000)
  const blob = 'TWFu'.repeat(2_000_000)
  const value = read({ uri: 'a:b', text }, { uri: 'a:c', blob })

  it('arrives whole, its binary data described', async () => {
    await using host = await hostWith('docs', new FixedProvider(() => value))
    const result = await host.call('read_mcp_resource', { server: 'docs', uri: 'a:b' })
    expect(host.text(result).endsWith(`\n[content 1: a:b]\n${text}`)).toBe(true)
    expect(host.text(result).length - text.length).toBeLessThan(400)
    expect(host.text(result)).toContain('[unknown type, 6000000 bytes of binary data, not shown]')
    expect(result.value).toEqual(value)
  })

  it('lets other work go on while its text is made', async () => {
    const made = Promise.withResolvers<void>()
    let turns = 0
    await using host = await hostWith(
      'docs',
      new FixedProvider(() => {
        const count = () => {
          turns += 1
          setImmediate(count).unref()
        }
        count()
        return value
      }),
    )
    host.ctx.on('tools/post-execute', async (_, __, next) => {
      made.resolve()
      return await next()
    })
    const call = host.call('read_mcp_resource', { server: 'docs', uri: 'a:b' })
    await made.promise
    expect(turns).toBeGreaterThan(100)
    await call
  })
})
