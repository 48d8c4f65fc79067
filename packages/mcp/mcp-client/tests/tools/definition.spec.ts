import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { ToolRunContext } from '@deepseek-ai/dsh-tools'
import { images, png } from '@dsh-mcp/fixtures'
import type { HostOptions, TestHost } from '@dsh-mcp/host'
import { describe, expect, it, vi } from 'vitest'
import { createMcpToolDefinition, McpCallError, type McpToolOptions } from '../../src/index.ts'
import { host } from '../support.ts'

const SEEING = { options: { provider: 'scripted', model: 'vision' } } as never
const SIGHT: HostOptions = { attachments: true, llm: { vision: ['text', 'image'], text: ['text'] } }

const text = (written: string) => ({ type: 'text', text: written })
const image = { type: 'image', ...images.png }
const IMAGE_LINE = '[image: image/png, 98 bytes]'

/** A host with one adapted tool, whose raw result is given. */
async function adapted(
  result: unknown,
  options: Partial<McpToolOptions> = {},
  hostOptions: HostOptions = SIGHT,
): Promise<TestHost & { register(options?: Partial<McpToolOptions>): () => void }> {
  const app = await host(hostOptions)
  const register = (more: Partial<McpToolOptions> = {}) =>
    app.ctx.tools.register(
      createMcpToolDefinition(app.ctx, {
        name: 'tool',
        inputSchema: { type: 'object' },
        call: async () => result,
        ...options,
        ...more,
      }),
    )
  register()
  return { ...app, register }
}

describe('an adapted tool', () => {
  it('is in the registry with its name, its description and its schema', async () => {
    const inputSchema = { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: false }
    const app = await adapted({ content: [] }, { description: 'Does\u202e it', inputSchema })
    expect(app.schemas()).toEqual([
      { name: 'tool', description: 'Does\\u{202e} it', parameters: inputSchema },
    ])
  })

  it('needs no description', async () => {
    const app = await adapted({ content: [] })
    expect(app.schemas()).toMatchObject([{ description: '' }])
  })

  it('gets the arguments and the execution as the registry made it', async () => {
    const call = vi.fn<McpToolOptions['call']>(async () => ({ content: [] }))
    const app = await adapted(undefined, { call })
    const { signal } = new AbortController()
    await app.call('tool', { a: [1] }, { agent: SEEING, signal })
    const [args, exec] = call.mock.calls[0] as [unknown, ToolRunContext]
    expect(args).toEqual({ a: [1] })
    expect(exec).toMatchObject({ name: 'tool', agent: SEEING, signal })
    expect(exec.callId).toBeTypeOf('string')
  })

  it.each([[null], ['text'], [5], [[1, 2]]])('takes %j for no arguments', async (args) => {
    const call = vi.fn<McpToolOptions['call']>(async () => ({ content: [text('done')] }))
    const app = await adapted(undefined, { call })
    const result = await app.call('tool', args)
    expect(app.text(result)).toBe('done')
    expect(call.mock.calls[0]?.[0]).toEqual({})
  })

  it('may overlap with others only when it says that it changes nothing', async () => {
    const app = await adapted({ content: [] })
    app.register({ name: 'reading', isReadOnly: true })
    const modeOf = (name: string) => app.ctx.tools.executionMode({ name, arguments: {} } as never).kind
    expect(modeOf('tool')).toBe('exclusive')
    expect(modeOf('reading')).toBe('parallel')
  })

  it('returns the complete result as its value, and shows the projection', async () => {
    const content = [
      text('a'),
      { type: 'audio', mimeType: 'audio/wav', data: 'QUJD' },
      { type: 'hologram', x: [1] },
    ]
    const app = await adapted({ content, structuredContent: { n: 1 }, _meta: { private: true } })
    const result = await app.call('tool')
    expect(result).toMatchObject({ isError: false, value: { content, structuredContent: { n: 1 } } })
    expect(result.value).not.toHaveProperty('_meta')
    expect(app.text(result)).toBe(
      'a\n[audio not shown: audio/wav, 3 bytes]\n[content of the unknown type "hologram", not shown]',
    )
  })

  it('keeps what is for the user in the value alone', async () => {
    const content = [{ ...text('for you'), annotations: { audience: ['user'] } }, text('for all')]
    const app = await adapted({ content })
    const result = await app.call('tool')
    expect(app.text(result)).toBe('for all')
    expect(result).toMatchObject({ value: { content } })
  })

  it('warns of an input schema that cannot be shown, and says so on one line', async () => {
    const app = await adapted({ content: [] }, { name: 'x\n\u202ey', inputSchema: { required: ['\u202e'] } })
    expect(app.schemas()).toMatchObject([{ parameters: { type: 'object' } }])
    expect(app.logs.find({ level: 'warn' }).map((entry) => entry.text)).toEqual([
      'the input schema of the tool "x\\n\\u{202e}y" hides characters, so the model gets an open one',
    ])
  })

  it('says at debug level why an output schema is not in its definition, on one bounded line', async () => {
    const outputSchema = { type: 'object', properties: { ['\u202e'.repeat(1000)]: { format: 'x' } } }
    const app = await adapted({ content: [] }, { outputSchema })
    const [line, ...more] = app.logs.find({ level: 'debug', text: 'output schema' })
    expect(more).toEqual([])
    expect(line?.text).toMatch(
      /^the output schema of the tool "tool" is not part of its definition: .{1,300}$/,
    )
  })
})

describe('a tool that failed', () => {
  it('is a failed call with what it said', async () => {
    const app = await adapted({ content: [text('no\u202e'), text('way')], isError: true })
    const result = await app.call('tool')
    expect(result).toMatchObject({
      isError: true,
      error: { message: 'no\\u{202e}\nway', info: { name: 'McpCallError', code: 'MCP_TOOL_ERROR' } },
    })
    expect(app.text(result)).toBe('Error: no\\u{202e}\nway')
  })

  it('saves no image', async () => {
    const app = await adapted({ content: [image], isError: true })
    const save = vi.spyOn(app.ctx.attachments, 'saveImages')
    const result = await app.call('tool', {}, { agent: SEEING })
    expect(result.content).toEqual([
      text('Error: [image not shown: image/png, 98 bytes; the tool reported an error]'),
    ])
    expect(save).not.toHaveBeenCalled()
  })

  it.each<[string, unknown[], string]>([
    ['without a word', [], 'The tool failed and did not say why.'],
    [
      'and told the user only',
      [{ ...text('psst'), annotations: { audience: ['user'] } }],
      'The tool failed, and what it reported is for the user only.',
    ],
  ])('%s, says so', async (_, content, message) => {
    const app = await adapted({ content, isError: true })
    expect(await app.call('tool')).toMatchObject({ isError: true, error: { message } })
  })

  it('is not held to its output schema', async () => {
    const outputSchema = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] }
    const app = await adapted(
      { content: [text('no')], structuredContent: {}, isError: true },
      { outputSchema },
    )
    expect(await app.call('tool')).toMatchObject({ isError: true, error: { message: 'no' } })
  })

  it('by throwing is a failed call with the same error', async () => {
    const error = new McpCallError('the provider is gone', 'MCP_UNAVAILABLE')
    const app = await adapted(undefined, { call: () => Promise.reject(error) })
    expect(await app.call('tool')).toMatchObject({
      isError: true,
      error: { message: 'the provider is gone', info: { code: 'MCP_UNAVAILABLE' } },
    })
  })
})

describe('an invalid result', () => {
  const outputSchema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] }

  it.each<[string, unknown, string]>([
    ['is none', 'done', 'it is not an object'],
    ['has a block that is none', { content: [{ type: 'text' }] }, 'content[0].text is not a string'],
    [
      'breaks its schema',
      { content: [image], structuredContent: { n: 'x' } },
      '"structuredContent.n" must be a number',
    ],
    [
      'lacks what its schema asks for',
      { content: [image] },
      'there is no structured content, which the output schema asks for',
    ],
  ])(
    'that %s is a failed call that names the tool and the violation, and nothing of it is kept',
    async (_, raw, violation) => {
      const app = await adapted(raw, { rawName: 'raw\n"name"', outputSchema })
      const save = vi.spyOn(app.ctx.attachments, 'saveImages')
      const result = await app.call('tool', {}, { agent: SEEING })
      const message = `MCP tool "raw\\\\n\\"name\\"" returned an invalid result: ${violation}.`
      expect(result).toMatchObject({
        isError: true,
        error: { message, info: { code: 'MCP_INVALID_RESULT' } },
      })
      expect(result).not.toHaveProperty('value')
      expect(result.content).toEqual([text(`Error: ${message}`)])
      expect(save).not.toHaveBeenCalled()
    },
  )

  it('beyond the subset of the host is one too, and what holds is not', async () => {
    const call = vi.fn<McpToolOptions['call']>(async (args) => ({ content: [], structuredContent: args }))
    const app = await adapted(undefined, {
      call,
      outputSchema: { type: 'object', additionalProperties: { type: 'number' } },
    })
    expect(await app.call('tool', { one: 1 })).toMatchObject({
      isError: false,
      value: { structuredContent: { one: 1 } },
    })
    expect(await app.call('tool', { one: '1' })).toMatchObject({
      isError: true,
      error: { info: { code: 'MCP_INVALID_RESULT' } },
    })
  })

  it('of a schema that cannot be checked passes, and the operator is told once', async () => {
    const app = await adapted(
      { content: [], structuredContent: {} },
      { outputSchema: { $ref: 'https://x.example/' } },
    )
    expect(await app.call('tool')).toMatchObject({ isError: false })
    expect(await app.call('tool')).toMatchObject({ isError: false })
    const warnings = app.logs.find({
      level: 'warn',
      text: 'results of the tool "tool" are not held to its output schema any more',
    })
    expect(warnings).toHaveLength(1)
  })

  it('is what a bug in the adapter is not', async () => {
    const hostile = {
      get structuredContent(): unknown {
        throw new TypeError('trap')
      },
    }
    const app = await adapted(hostile)
    expect(await app.call('tool')).toMatchObject({ isError: true, error: { message: 'trap' } })
  })
})

describe('a result with images', () => {
  const content = [text('before'), image, text('after')]
  const native = [
    text('before'),
    { type: 'image', attachment: expect.objectContaining({ mediaType: 'image/png' }) },
    text('after'),
  ]
  const lines = [text(`before\n${IMAGE_LINE}\nafter`)]

  it('has them in the conversation where the model takes images', async () => {
    const app = await adapted({ content })
    const result = await app.call('tool', {}, { agent: SEEING })
    expect(result).toMatchObject({ isError: false, content: native, value: { content } })
    expect(JSON.stringify(result.content)).not.toContain(png)
  })

  it('has them described, with the reason, where it does not', async () => {
    const app = await adapted({ content })
    const result = await app.call(
      'tool',
      {},
      { agent: { options: { provider: 'scripted', model: 'text' } } as never },
    )
    expect(app.text(result)).toBe(
      'before\n[image not shown: image/png, 98 bytes; the current model does not take images]\nafter',
    )
    expect(result).toMatchObject({ value: { content } })
  })

  it('has them in the conversation whatever the arguments were', async () => {
    const app = await adapted({ content })
    for (const args of [null, 'text', [1]]) {
      expect(await app.call('tool', args, { agent: SEEING })).toMatchObject({ content: native })
    }
    const unseen = await app.call('tool', null)
    expect(app.text(unseen)).toContain('it is not known which model reads this')
  })

  it('has each call its own, also when calls overlap', async () => {
    const call = vi.fn<McpToolOptions['call']>(async ({ n }) => ({
      content: [text(`call ${String(n)}`), { type: 'image', ...(n === 1 ? images.png : images.gif) }],
    }))
    const app = await adapted(undefined, { call, isReadOnly: true })
    const [first, second] = await Promise.all([
      app.call('tool', { n: 1 }, { agent: SEEING }),
      app.call('tool', { n: 2 }, { agent: SEEING }),
    ])
    expect(first?.content).toMatchObject([text('call 1'), { attachment: { mediaType: 'image/png' } }])
    expect(second?.content).toMatchObject([text('call 2'), { attachment: { mediaType: 'image/gif' } }])
  })

  it('is shown to policies as text', async () => {
    const app = await adapted({ content })
    const seen: unknown[] = []
    app.ctx.on('tools/post-execute', (_exec, result, next) => {
      seen.push(result.content)
      return next()
    })
    const result = await app.call('tool', {}, { agent: SEEING })
    expect(seen).toEqual([lines])
    expect(result.content).toEqual(native)
  })

  it('stays blocked when a policy blocks it', async () => {
    const app = await adapted({ content })
    app.ctx.on('tools/post-execute', async () => ({
      kind: 'block',
      feedback: [{ type: 'text', text: 'no' }],
    }))
    const result = await app.call('tool', {}, { agent: SEEING })
    expect(result).toMatchObject({ isError: true, content: [text('no')] })
    expect(result).not.toHaveProperty('value')
  })

  it('stays as a policy replaces its content', async () => {
    const app = await adapted({ content })
    app.ctx.on('tools/post-execute', async () => ({
      kind: 'accept',
      content: [{ type: 'text', text: 'redacted' }],
    }))
    const result = await app.call('tool', {}, { agent: SEEING })
    expect(result).toMatchObject({ isError: false, content: [text('redacted')], value: { content } })
  })

  it('stays as a policy replaces its value', async () => {
    const app = await adapted({ content })
    const value = { content: [text('other'), { type: 'image', ...images.gif }] }
    app.ctx.on('tools/post-execute', async () => ({ kind: 'accept', value }))
    const result = await app.call('tool', {}, { agent: SEEING })
    expect(result).toMatchObject({ value, content: [text('other\n[image: image/gif, 62 bytes]')] })
  })

  it.each<[string, unknown]>([
    ['content[0] is not a content block', { content: ['x'] }],
    ['content[1].text is not a string', { content: [text('a'), { type: 'text', text: 5 }] }],
    [
      'content[0].resource.text is not a string',
      { content: [{ type: 'resource', resource: { uri: 'x', text: 5 } }] },
    ],
  ])('is refused when a policy makes it one whose %s', async (violation, value) => {
    const app = await adapted({ content })
    app.ctx.on('tools/post-execute', async () => ({ kind: 'accept', value: value as never }))
    const result = await app.call('tool', {}, { agent: SEEING })
    expect(result.isError).toBe(true)
    expect(app.text(result)).toContain(violation)
  })

  it('stays as a policy replaces a part of its value that is not shown', async () => {
    const app = await adapted({ content, structuredContent: { secret: 1 } })
    const value = { content, structuredContent: { secret: 0 } }
    app.ctx.on('tools/post-execute', async () => ({ kind: 'accept', value }))
    expect(await app.call('tool', {}, { agent: SEEING })).toMatchObject({ value, content: lines })
  })

  it('is not put in the place of a result that a policy made up', async () => {
    const app = await adapted({ content })
    app.ctx.on('tools/execute', async (_exec, next) => {
      await next()
      return { isError: false, content: [], value: { content: [text('made up')] } } as never
    })
    expect(await app.call('tool', {}, { agent: SEEING })).toMatchObject({ content: [text('made up')] })
  })

  it('is still itself when a policy passes on a copy', async () => {
    const app = await adapted({ content })
    app.ctx.on('tools/execute', async (_exec, next) => ({ ...(await next()) }))
    expect(await app.call('tool', {}, { agent: SEEING })).toMatchObject({ content: native })
  })

  it('is that of the last attempt when a policy tries again', async () => {
    let attempts = 0
    const call = async () => ({ content: [text(`attempt ${++attempts}`), image] })
    const app = await adapted(undefined, { call })
    app.ctx.on('tools/execute', async (_exec, next) => {
      await next()
      return await next()
    })
    const result = await app.call('tool', {}, { agent: SEEING })
    expect(result).toMatchObject({
      content: [text('attempt 2'), { type: 'image' }],
      value: { content: [text('attempt 2'), image] },
    })
  })

  it('is not there when a policy refuses the call', async () => {
    const call = vi.fn<McpToolOptions['call']>(async () => ({ content }))
    const app = await adapted(undefined, { call })
    app.ctx.tools.guard(() => 'forbidden')
    expect(await app.call('tool', {}, { agent: SEEING })).toMatchObject({
      isError: true,
      content: [text('Error: forbidden')],
    })
    expect(call).not.toHaveBeenCalled()
  })

  it('is not there when the call was cancelled', async () => {
    const cancel = new AbortController()
    const call = async () => {
      cancel.abort()
      return { content }
    }
    const app = await adapted(undefined, { call })
    const save = vi.spyOn(app.ctx.attachments, 'saveImages')
    const result = await app.call('tool', {}, { agent: SEEING, signal: cancel.signal })
    expect(result).toMatchObject({ isError: true, error: { info: { code: 'ABORTED' } } })
    expect(save).not.toHaveBeenCalled()
  })

  it('is in the conversation also when the tool was registered anew meanwhile', async () => {
    const app = await host(SIGHT)
    const define = () =>
      createMcpToolDefinition(app.ctx, {
        name: 'tool',
        inputSchema: { type: 'object' },
        call: async () => ({ content }),
      })
    const unregister = app.ctx.tools.register(define())
    app.ctx.on('tools/pre-execute', async (_exec, next) => {
      unregister()
      app.ctx.tools.register(define())
      return await next()
    })
    expect(await app.call('tool', {}, { agent: SEEING })).toMatchObject({ content: native })
  })

  it('is made anew from services that come and go', async () => {
    const app = await adapted({ content }, {}, { llm: { vision: ['text', 'image'] } })
    expect(app.text(await app.call('tool', {}, { agent: SEEING }))).toContain(
      'no attachment store is available',
    )
    const store = await host({ attachments: true })
    app.ctx.provide('attachments', store.ctx.attachments)
    expect(await app.call('tool', {}, { agent: SEEING })).toMatchObject({ content: native })
  })
})

it('nothing of a call is kept when it is over', async () => {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  const objects: WeakRef<object>[] = []
  const call = async () => {
    const block = { ...image }
    objects.push(new WeakRef(block))
    return { content: [text('x'), block] }
  }
  const app = await adapted(undefined, { call })
  for (let n = 0; n < 20; n++) {
    const { value } = (await app.call('tool', { n }, { agent: SEEING })) as { value: object }
    objects.push(new WeakRef(value))
  }
  await vi.waitFor(() => {
    collectGarbage()
    // The last ones may still be on the stack.
    expect(objects.slice(0, -2).filter((object) => object.deref() !== undefined)).toEqual([])
  })
})
