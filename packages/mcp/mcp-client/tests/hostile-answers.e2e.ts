/** Answers that no honest server gives, and what must not come of them. */
import McpResourceRuntime from '@deepseek-ai/dsh-mcp-resources'
import { describe, expect, it } from 'vitest'
import * as mcpClient from '../src/index.ts'
import { eventually, host, mount, scriptConfig, type Written } from './support.ts'

/** A server of a few lines: `onCall` and `onOther` answer what is not the handshake. */
function server(body: string, more: Partial<Written> = {}): Written {
  const script = `
    const send = (x) => process.stdout.write((typeof x === 'string' ? x : JSON.stringify(x)) + '\\n')
    const answer = (m, result) => send({ jsonrpc: '2.0', id: m.id, result })
    let info = { name: 'hostile', version: '1' }
    let tools = [{ name: 'run', inputSchema: { type: 'object' } }]
    let onCall = (m) => answer(m, { content: [{ type: 'text', text: 'done' }] })
    let onOther = (m) => {}
    ${body}
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const m = JSON.parse(line)
      if (m.method === 'initialize') answer(m, { protocolVersion: '2025-11-25', capabilities: { tools: {}, resources: {} }, serverInfo: info })
      else if (m.method === 'server/discover') send({ jsonrpc: '2.0', id: m.id, error: { code: -32601, message: 'unknown' } })
      else if (m.method === 'tools/list') answer(m, { tools })
      else if (m.method === 'tools/call') onCall(m)
      else if (m.id !== undefined) onOther(m)
    })`
  return { ...scriptConfig(script), ...more } as Written
}

describe('an answer to nobody', () => {
  it('does not bring its payload into the log', async () => {
    const on = await host()
    const config = server(`onCall = (m) => {
      send({ jsonrpc: '2.0', id: 777, result: { contents: [{ uri: 'x:y', blob: 'iVBORw0KGgo' }] } })
      send({ jsonrpc: '2.0', id: 778, result: { content: [], structuredContent: { image: 'iVBORw0KGgo' } } })
      send({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 99, progress: 1, message: 'iVBORw0KGgo' } })
      answer(m, { content: [{ type: 'text', text: 'done' }] })
    }`)
    await mount(on, config)
    expect(on.text(await on.call('mcp__one__run'))).toBe('done')
    expect(on.logText()).toContain('unknown message ID')
    expect(on.logText()).not.toContain('iVBOR')
  })
})

describe('an answer without content', () => {
  it.each([
    '{}',
    '{ toolResult: "hi" }',
    '{ tools: [] }',
    '{ resources: [] }',
    '{ contents: [] }',
    '{ protocolVersion: "x" }',
    '{ supportedVersions: [] }',
  ])('is no success: %s', async (result) => {
    const on = await host()
    await mount(on, server(`onCall = (m) => answer(m, ${result})`))
    const called = await on.call('mcp__one__run')
    expect(called.isError).toBe(true)
    expect(on.text(called)).toContain('content is not a list of blocks')
  })

  it('is one where there is structured content', async () => {
    const on = await host()
    await mount(on, server(`onCall = (m) => answer(m, { structuredContent: { a: 1 } })`))
    expect(await on.call('mcp__one__run')).toMatchObject({
      value: { content: [], structuredContent: { a: 1 } },
    })
  })
})

describe('an answer that is not JSON-RPC', () => {
  it('fails the call at once, with what is wrong with it, and the connection goes on', async () => {
    const on = await host()
    const config = server(`
      console.log('Server started')
      let calls = 0
      onCall = (m) => ++calls === 1
        ? send({ jsonrpc: '2.0', id: m.id, error: { code: 'ENOENT', message: 'no file' } })
        : answer(m, { content: [] })`)
    await mount(on, config)
    const called = await on.call('mcp__one__run')
    expect(called).toMatchObject({ isError: true, error: { info: { code: 'MCP_PROTOCOL_ERROR' } } })
    expect(on.text(called)).toMatch(
      /^Error: MCP tool "run" of server "one" failed: the server's answer is not JSON-RPC: the code of its error is no whole number$/,
    )
    expect((await on.call('mcp__one__run')).isError).toBe(false)
    expect(on.statuses.kinds('one')).not.toContain('reconnecting')
  })
})

describe('a negative zero', () => {
  it('costs neither a result nor a list of resources', async () => {
    const on = await host()
    await on.mount(McpResourceRuntime)
    const config = server(`
      const raw = (m, result) => send('{"jsonrpc":"2.0","id":' + m.id + ',"result":' + result + '}')
      onCall = (m) => raw(m, '{"content":[{"type":"text","text":"done"}],"structuredContent":{"a":-0.0}}')
      onOther = (m) => raw(m, '{"resources":[{"uri":"a:b","name":"c","size":-0.0}]}')`)
    await mount(on, config)
    expect(await on.call('mcp__one__run')).toMatchObject({ value: { structuredContent: { a: 0 } } })
    const listed = await on.call('list_mcp_resources', { server: 'one' })
    expect(listed).toMatchObject({ isError: false, value: { resources: [{ uri: 'a:b', size: 0 }] } })
  })
})

it('a secret in what a server calls itself and its tools is in neither log nor status', async () => {
  const on = await host()
  const secret = 'sup3rs3cretvalue'
  const config = server(
    `const s = process.env.API_TOKEN
    info = { name: 'srv ' + s, version: s, title: s }
    let deep = {}
    for (let i = 0; i < 300; i++) deep = { properties: { a: deep } }
    tools.push({ name: 'deep' + s, inputSchema: { type: 'object', properties: { deep } } })`,
    { env: { API_TOKEN: secret } },
  )
  await mount(on, config)
  expect(on.statuses.latest('one')?.serverInfo).toEqual({
    name: 'srv [redacted env.API_TOKEN]',
    version: '[redacted env.API_TOKEN]',
    title: '[redacted env.API_TOKEN]',
  })
  expect(on.logText()).toContain('levels deep')
  expect(on.logText()).not.toContain(secret)
})

describe('a secret in the words that are told of a tool', () => {
  const secret = 'sk-live-AbCdEf0123456789+/xyz'
  const long = `'x'.repeat(60) + s + 'y'.repeat(60)`

  it.each([
    [
      'a pattern that is none',
      `{ name: 'run', outputSchema: { type: 'object', properties: { a: { pattern: s + '(' } } }, inputSchema: { type: 'object' } }`,
    ],
    [
      'a reference to elsewhere',
      `{ name: 'run', outputSchema: { type: 'object', $ref: 'http://x/' + s }, inputSchema: { type: 'object' } }`,
    ],
    [
      'an unknown keyword',
      `{ name: 'run', outputSchema: { type: 'object', [s]: 1 }, inputSchema: { type: 'object' } }`,
    ],
    [
      'a name with a schema that cannot be shown',
      `{ name: ${long}, inputSchema: { type: 'object', required: ['\u202e'] } }`,
    ],
    [
      'a name with a schema that is too deep',
      `{ name: ${long}, inputSchema: { type: 'object', [${long}]: deep } }`,
    ],
    [
      'a name that is there twice',
      `{ name: ${long}, inputSchema: { type: 'object' } }, { name: ${long}, inputSchema: { type: 'object' } }`,
    ],
  ])('is told of no part: %s', async (_, tools) => {
    const on = await host()
    const config = server(
      `const s = process.env.API_TOKEN
      let deep = {}
      for (let i = 0; i < 300; i++) deep = { a: deep }
      tools = [${tools}]
      onCall = (m) => answer(m, { content: [], structuredContent: { a: 'b' } })`,
      { env: { API_TOKEN: secret }, reconnect: { enabled: false } },
    )
    await mount(on, config)
    for (const name of on.toolNames()) await on.call(name)
    const told = on.logText() + JSON.stringify(on.statuses.all)
    expect(told).toContain('[redacted env.API_TOK')
    expect(told).not.toMatch(/sk-live|AbCdEf/)
    expect(told).not.toContain('mcp__one__')
  })
})

it('an entry that is disposed by whoever hears of its failure stays so', async () => {
  const on = await host()
  const config = { serverName: 'one', transport: 'stdio', command: '/nonexistent/x' } as const
  const disposals: Promise<void>[] = []
  on.ctx.on('mcp-client/status', ({ status }) => {
    if (status === 'reconnecting') disposals.push(fiber.dispose())
  })
  const fiber = on.ctx.plugin(mcpClient, { ...config, reconnect: { initialDelayMs: 1 } })
  await Promise.resolve(fiber).catch(() => {})
  await eventually(() => expect(on.statuses.latest('one')?.status).toBe('disposed'))
  await Promise.all(disposals)
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(new Set(on.statuses.kinds('one').slice(2))).toEqual(new Set(['disposed']))
})
