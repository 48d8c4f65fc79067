/** Calls over real connections: what goes over the wire, and what a call that fails says. */
import { expect, it } from 'vitest'
import { eventually, fixtureConfig, host, mount } from '../support.ts'

async function connected(program: 'modern' | 'legacy', more: Parameters<typeof fixtureConfig>[2] = {}) {
  const app = await host()
  await mount(app, fixtureConfig(program, {}, more))
  // On a busy machine the first attempt may come to nothing.
  await app.status('one', 'connected')
  return app
}

it.each(['modern', 'legacy'] as const)(
  'a %s server gets the raw name and the arguments as they are',
  async (era) => {
    const app = await connected(era)
    const normalised = app.toolNames().find((name) => name.startsWith('mcp__one__dotted_name_'))
    expect(app.text(await app.call(normalised!))).toBe('called dotted.name')
    const args = { text: 'a\u202eb', list: [1, null], '': {} }
    expect(
      JSON.parse(app.text(await app.call('mcp__one__arguments', args)).replace('\\u{202e}', '\u202e')),
    ).toEqual(args)
    expect(app.text(await app.call('mcp__one__arguments', 'none'))).toBe('{}')
  },
)

it.each(['modern', 'legacy'] as const)('a call that a %s server refuses says so', async (era) => {
  const app = await connected(era)
  const result = await app.call('mcp__one__throw', { message: 'out of order', code: -32050 })
  expect(result).toMatchObject({ isError: true, error: { info: { code: 'MCP_PROTOCOL_ERROR' } } })
  expect(app.text(result)).toBe(
    'Error: MCP tool "throw" of server "one" was refused with code -32050: out of order',
  )
})

it('a tool that runs as a task only is refused in words, and nothing is sent', async () => {
  const app = await connected('legacy')
  const result = await app.call('mcp__one__needs_task')
  expect(result).toMatchObject({ isError: true, error: { info: { code: 'MCP_UNSUPPORTED' } } })
  expect(app.text(result)).toBe(
    'Error: MCP tool "needs_task" of server "one" runs only as a task, and this client does not support tasks. Use another tool.',
  )
})

it.each(['modern', 'legacy'] as const)(
  'a call that takes too long is cancelled at a %s server',
  async (era) => {
    const app = await connected(era, { toolCallTimeoutMs: 300 })
    const result = await app.call('mcp__one__hold')
    expect(result).toMatchObject({ isError: true, error: { info: { code: 'MCP_TIMEOUT' } } })
    await eventually(async () => {
      expect(app.text(await app.call('mcp__one__cancellations'))).toContain('"name":"hold"')
    })
  },
)

it.each(['modern', 'legacy'] as const)('a cancelled call is cancelled at a %s server', async (era) => {
  const app = await connected(era)
  const cancel = new AbortController()
  const call = app.call('mcp__one__hold', {}, { signal: cancel.signal })
  // The server answers this only after it took the call before.
  await app.call('mcp__one__echo', { message: 'hi' })
  cancel.abort()
  expect(await call).toMatchObject({
    isError: true,
    error: {
      message: 'MCP tool "hold" of server "one" was cancelled. Whether it took effect is unknown.',
      info: { code: 'MCP_CANCELLED' },
    },
  })
  await eventually(async () => {
    expect(app.text(await app.call('mcp__one__cancellations'))).toContain('"name":"hold"')
  })
})

it('a call whose server dies says that its effect is unknown', async () => {
  const app = await connected('legacy')
  const result = await app.call('mcp__one__crash', { code: 3 })
  expect(result).toMatchObject({ isError: true, error: { info: { code: 'MCP_CONNECTION_LOST' } } })
  expect(app.text(result)).toContain('the server process exited with code 3')
})

it('a call without a connection is not sent', async () => {
  const app = await connected('legacy', { reconnect: { enabled: false } })
  await app.call('mcp__one__crash')
  await app.status('one', 'failed')
  const result = await app.call('mcp__one__echo', { message: 'hi' })
  expect(result).toMatchObject({ isError: true, error: { info: { code: 'MCP_UNAVAILABLE' } } })
  expect(app.text(result)).toContain('The call was not sent: MCP server "one" is not connected')
})
