/** Every shape of result that a server can send, over real connections in both eras, as the model gets it. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { everythingServer, images, startHttpFixture, stdioFixture, type HttpFixture } from '@dsh-mcp/fixtures'
import { startAgentHost, type AgentHost, type HostAgent, type TestHost } from '@dsh-mcp/host'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as mcpClient from '../../src/index.ts'
import { fixtureConfig, host, mount } from '../support.ts'

const text = (written: string) => ({ type: 'text', text: written })
const shown = (mediaType: string) => ({
  type: 'image',
  attachment: expect.objectContaining({ mediaType, width: 2, height: 2 }),
})

/** Mount an entry and wait for its connection, which on a busy machine may take a second attempt. */
async function connect(app: TestHost, config: Parameters<typeof mount>[1]): Promise<void> {
  await mount(app, config)
  await app.status(config.serverName, 'connected')
}

describe.each([
  ['stdio', 'modern'],
  ['stdio', 'legacy'],
  ['http', 'modern'],
  ['http', 'legacy'],
] as const)('over %s, from a %s server,', (transport, era) => {
  let app: AgentHost
  let seeing: HostAgent
  let blind: HostAgent
  let fixture: HttpFixture | undefined

  beforeAll(async () => {
    app = await startAgentHost({ attachments: true })
    if (transport === 'http') fixture = await startHttpFixture({ era })
    const reach =
      fixture === undefined
        ? { transport: 'stdio' as const, ...stdioFixture(era) }
        : { transport: 'streamable-http' as const, url: fixture.url }
    await app.mount(mcpClient, { serverName: 's', ...reach })
    // On a busy machine the first attempt may come to nothing.
    await app.status('s', 'connected')
    seeing = await app.agent({ model: 'vision' })
    blind = await app.agent({ model: 'text' })
  })

  afterAll(async () => {
    await app.dispose()
    await fixture?.[Symbol.asyncDispose]()
  })

  const call = async (tool: string, args: object = {}, by: HostAgent = seeing) =>
    await app.call(`mcp__s__${tool}`, args, { agent: by.agent })

  it.each<[string, unknown[]]>([
    ['two_texts', [text('first\nsecond')]],
    ['no_content', [text('The tool returned no content.')]],
    [
      'link',
      [text('see\n[resource link] A greeting (greeting): fixture://text/greeting (text/plain, 13 bytes)')],
    ],
    ['bare_link', [text('[resource link] bare: fixture://bare')]],
    ['embedded_text', [text('[resource fixture://doc (text/plain)]\nembedded text')]],
    ['embedded_blob', [text('[resource fixture://pic not shown: image/png, 98 bytes]')]],
    ['audio', [text('[audio not shown: audio/wav, 60 bytes]')]],
    ['unknown_block', [text('known\n[content of the unknown type "hologram", not shown]')]],
    ['annotated', [text('for everybody\nfor the assistant')]],
    ['structured_only', [text('{\n  "city": "Ulm",\n  "temperature": 12.5\n}')]],
    ['image', [text('before'), shown('image/png'), text('after')]],
    [
      'image_not_an_image',
      [text('[image not shown: image/png, 12 bytes; its data is not a readable image]')],
    ],
    [
      'image_wrong_type',
      [text('[image not shown: image/jpeg, 98 bytes; its data is not of the declared type]')],
    ],
    ['image_bad_base64', [text('[image not shown: image/png, 9 bytes; its data is not canonical base64]')]],
    [
      'image_loose_base64',
      [text('[image not shown: image/png, 98 bytes; its data is not canonical base64]')],
    ],
    ['map_output', [text('{"one":1,"two":2}')]],
    ['ref_output', [text('{"left":{"value":1},"right":{"value":2}}')]],
  ])('%s is shown', async (tool, content) => {
    expect(await call(tool)).toMatchObject({ isError: false, content })
  })

  it('every image format is shown, in order', async () => {
    const { content } = await call('image', { format: 'all' })
    const types = Object.values(images).map(({ mimeType }) => shown(mimeType))
    expect(content).toEqual([text('before'), ...types, text('after')])
  })

  it('an image is described to a model that does not see', async () => {
    expect((await call('image', {}, blind)).content).toEqual([
      text('before\n[image not shown: image/png, 98 bytes; the current model does not take images]\nafter'),
    ])
  })

  it('the value holds what the server sent, unknown blocks and hidden annotations included', async () => {
    expect(await call('unknown_block')).toMatchObject({
      value: { content: [text('known'), { type: 'hologram', depth: 3, data: 'AAAA' }] },
    })
    expect(await call('annotated')).toMatchObject({
      value: {
        content: [{}, { text: 'for the user', annotations: { audience: ['user'], priority: 0.2 } }, {}],
      },
    })
    expect(await call('add', { a: 1, b: 2 })).toMatchObject({ value: { structuredContent: { sum: 3 } } })
  })

  it.each([
    ['bad_output', '"structuredContent.sum" must be a number'],
    ['missing_output', 'there is no structured content, which the output schema asks for'],
  ])('%s is a failed call', async (tool, violation) => {
    const result = await call(tool)
    expect(result.isError).toBe(true)
    expect(app.text(result)).toBe(`Error: MCP tool "${tool}" returned an invalid result: ${violation}.`)
  })

  it('an error with an image is a failed call', async () => {
    const result = await call('image_error')
    expect(result.isError).toBe(true)
    expect(app.text(result)).toBe(
      'Error: it failed\n[image not shown: image/png, 98 bytes; the tool reported an error]',
    )
  })

  it('a large text and a large payload arrive whole', async () => {
    const bytes = 3_000_001
    const written = await call('big', { bytes })
    expect(app.text(written) === 'x'.repeat(bytes)).toBe(true)
    const { value } = (await call('big', { bytes, kind: 'blob' })) as { value?: never }
    expect(value).toMatchObject({ content: [{ resource: { uri: 'fixture://big' } }] })
    const { blob } = (value as unknown as { content: [{ resource: { blob: string } }] }).content[0].resource
    expect(blob === 'A'.repeat(3_000_004)).toBe(true)
  })

  it('no base64 is in a session or in the log', async () => {
    app.llm.script({ calls: [{ name: 'mcp__s__image', arguments: { format: 'all' } }] }, { text: 'seen' })
    await seeing.turn('look')
    const written = JSON.stringify(seeing.agent.session.events) + app.logText()
    for (const { data } of Object.values(images)) expect(written).not.toContain(data)
    // The request after the call carries the images, by reference.
    expect(JSON.stringify(app.llm.requests.at(-1))).toContain('sha256:')
  })
})

it('a message over the limit ends the connection, however it is read', async () => {
  const app = await host()
  await connect(app, fixtureConfig('legacy', {}, { maxMessageBytes: 2_000_000 }))
  expect(await app.call('mcp__one__big', { bytes: 1_900_000 })).toMatchObject({ isError: false })
  const result = await app.call('mcp__one__big', { bytes: 2_000_000 })
  expect(result.isError).toBe(true)
  expect(app.text(result)).toContain('a message of more than 2000000 bytes (maxMessageBytes)')
})

it('a late answer to a cancelled call is in no log', async () => {
  const app = await host()
  await connect(app, fixtureConfig('legacy'))
  const cancel = new AbortController()
  const late = app.call('mcp__one__slow', { ms: 200, ignoreCancel: true }, { signal: cancel.signal })
  cancel.abort()
  await late
  await app.call('mcp__one__slow', { ms: 600 })
  expect(app.logText()).not.toContain('waited 200 ms')
})

it('a reference out of an output schema is not followed', async () => {
  const requests: string[] = []
  const remote = createServer((request, response) => {
    requests.push(request.url!)
    response.end('{}')
  })
  await new Promise<void>((resolve) => remote.listen(0, '127.0.0.1', resolve))
  const $ref = `http://127.0.0.1:${(remote.address() as AddressInfo).port}/schema.json`
  try {
    const app = await host()
    const tools = [
      {
        name: 'a',
        inputSchema: { type: 'object' },
        outputSchema: { type: 'object', properties: { x: { $ref } } },
      },
    ]
    const results = { a: { content: [text('done')], structuredContent: { x: 1 } } }
    await connect(app, fixtureConfig('modern', { tools, results }))
    expect(app.text(await app.call('mcp__one__a'))).toBe('done')
    expect(app.logs.find({ level: 'warn', text: 'Unresolved $ref' })).toHaveLength(1)
    expect(requests).toEqual([])
  } finally {
    remote.close()
  }
})

describe('the reference server', () => {
  it('has its images, annotations, structured content and resources shown', async () => {
    const app = await startAgentHost({ attachments: true })
    try {
      await app.mount(mcpClient, { serverName: 'e', transport: 'stdio', ...everythingServer() })
      await app.status('e', 'connected')
      const { agent } = await app.agent({ model: 'vision' })
      const call = async (tool: string, args: object = {}) =>
        await app.call(`mcp__e__${tool}`, args, { agent })

      expect((await call('get-tiny-image')).content).toEqual([
        expect.objectContaining({ type: 'text' }),
        { type: 'image', attachment: expect.objectContaining({ mediaType: 'image/png' }) },
        expect.objectContaining({ type: 'text' }),
      ])
      const unseen = await app.call('mcp__e__get-tiny-image')
      expect(app.text(unseen)).toContain('[image not shown: image/png,')

      const forBoth = await call('get-annotated-message', { messageType: 'error', includeImage: true })
      expect(app.text(forBoth)).toBe('Error: Operation failed')
      expect(forBoth).toMatchObject({ value: { content: [{ type: 'text' }, { type: 'image' }] } })
      const forUser = await call('get-annotated-message', { messageType: 'success', includeImage: false })
      expect(app.text(forUser)).toBe(
        'The tool returned content for the user only; there is nothing in it for you.',
      )

      const weather = await call('get-structured-content', { location: 'New York' })
      expect(weather).toMatchObject({
        isError: false,
        value: { structuredContent: { temperature: expect.any(Number) } },
      })

      const reference = await call('get-resource-reference', { resourceType: 'Text', resourceId: 1 })
      expect(app.text(reference)).toContain('[resource demo://resource/dynamic/text/1')
      const links = await call('get-resource-links', { count: 2 })
      expect(app.text(links).match(/\[resource link\]/g)).toHaveLength(2)
    } finally {
      await app.dispose()
    }
  })
})
