/** Every command on real servers: both eras, both transports. */
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { images, startHttpFixture, stdioFixture, type HttpFixture } from '@dsh-mcp/fixtures'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { compose, httpRow, run, runJson, stdioRow, type Composition } from './support.ts'

let http: HttpFixture
let composition: Composition
let cwd: string

beforeAll(async () => {
  http = await startHttpFixture({ era: 'modern', instructions: 'Use {{braces}} and \u{202e}nothing hidden.' })
  composition = await compose([
    stdioRow('old', stdioFixture('legacy')),
    stdioRow('new', stdioFixture('modern', { noResources: true })),
    httpRow('web', http.url),
  ])
  cwd = composition.folder
})

afterAll(async () => {
  await http[Symbol.asyncDispose]()
  await composition[Symbol.asyncDispose]()
})

describe('status', () => {
  it('tells every server, in the order of the rows, as JSON', async () => {
    const { code, value } = await runJson(['status'], { cwd })
    expect(value).toEqual([
      expect.objectContaining({
        serverName: 'old',
        transport: 'stdio',
        status: 'connected',
        protocolVersion: '2025-11-25',
      }),
      expect.objectContaining({
        serverName: 'new',
        transport: 'stdio',
        status: 'connected',
        protocolVersion: '2026-07-28',
      }),
      expect.objectContaining({
        serverName: 'web',
        transport: 'streamable-http',
        status: 'connected',
        resourceCount: 5,
      }),
    ])
    for (const row of value as Record<string, unknown>[]) {
      expect(Object.keys(row).toSorted()).toEqual([
        'connectMs',
        'error',
        'protocolVersion',
        'resourceCount',
        'serverName',
        'status',
        'toolCount',
        'transport',
      ])
      expect(row['connectMs']).toEqual(expect.any(Number))
      expect(row['error']).toBeNull()
      expect(row['toolCount']).toBeGreaterThan(10)
    }
    expect(code).toBe(0)
  })

  it('is an aligned table without colours at a pipe', async () => {
    const { code, stdout } = await run(['status'], { cwd, env: { FORCE_COLOR: '3' } })
    expect(stdout).toMatch(/^SERVER +TRANSPORT +STATUS +PROTOCOL +TOOLS +RESOURCES +CONNECTED IN\n/)
    expect(stdout).toMatch(/^new +stdio +connected +2026-07-28 +\d+ +0 +\d+ ms$/m)
    expect(stdout).not.toContain('\u{1b}')
    expect(code).toBe(0)
  })
})

describe('run', () => {
  it('ends after the table and the tools when there is no terminal', async () => {
    const { code, stdout } = await run(['run'], { cwd })
    expect(stdout).toMatch(/^web: \d+ tools$/m)
    expect(stdout).toMatch(/^ {2}mcp__old__echo +Returns the message$/m)
    expect(code).toBe(0)
  })

  it('prints servers and tools as one JSON value', async () => {
    const { value } = await runJson(['run'], { cwd })
    expect(value).toEqual({ servers: expect.any(Array), tools: expect.any(Array) })
  })
})

describe('tools', () => {
  it('lists what the model gets, as JSON', async () => {
    const { code, value } = await runJson(['tools'], { cwd })
    const tools = value as { name: string; server: string; description: string; inputSchema: object }[]
    expect(new Set(tools.map(({ server }) => server))).toEqual(new Set(['old', 'new', 'web']))
    expect(tools.find(({ name }) => name === 'mcp__old__echo')).toEqual({
      name: 'mcp__old__echo',
      server: 'old',
      description: 'Returns the message',
      inputSchema: { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] },
    })
    expect(code).toBe(0)
  })

  it('lists one server with schemas, and starts no other', async () => {
    const before = http.requests.length
    const { code, stdout, stderr } = await run(['tools', 'new', '--schema'], { cwd })
    expect(stdout).toMatch(
      /^new: \d+ tools\n {2}mcp__new__echo\n {4}Returns the message\n {4}input\n {4}\{\n/,
    )
    expect(stdout).not.toContain('mcp__old__')
    expect(http.requests.length).toBe(before)
    expect({ code, stderr: stderr.replace(/^still starting.*\n/gm, '') }).toEqual({ code: 0, stderr: '' })
  })

  it('adds output schemas to the JSON with --schema, and the tools of the host with --all', async () => {
    const { value } = await runJson(['tools', '--schema', '--all'], { cwd })
    const tools = value as { name: string; server: string | null; outputSchema?: object }[]
    expect(tools.find(({ name }) => name === 'mcp__old__add')).toHaveProperty('outputSchema.properties')
    expect(
      tools
        .filter(({ server }) => server === null)
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(['list_mcp_resource_templates', 'list_mcp_resources', 'read_mcp_resource'])
  })
})

describe('call', () => {
  it('prints what the model would read, and starts only the server of the tool', async () => {
    const before = http.requests.length
    const { code, stdout } = await run(['call', 'mcp__old__echo', '{"message":"hi"}'], { cwd })
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'hi\n' })
    expect(http.requests.length).toBe(before)
  })

  it('prints the canonical value as JSON', async () => {
    const { code, value } = await runJson(['call', 'mcp__web__add', '{"a":1,"b":2}'], { cwd })
    expect({ code, value }).toEqual({
      code: 0,
      value: {
        isError: false,
        content: [{ type: 'text', text: '{"sum":3}' }],
        value: { content: [{ type: 'text', text: '{"sum":3}' }], structuredContent: { sum: 3 } },
      },
    })
  })

  it('takes its arguments from a file or from standard input', async () => {
    const file = join(cwd, 'arguments.json')
    await writeFile(file, '{"message":"from a file"}')
    const fromFile = await run(['call', 'mcp__old__echo', `@${file}`], { cwd })
    const fromInput = await run(['call', 'mcp__old__echo', '-'], { cwd, input: '{"message":"from input"}' })
    expect([fromFile.stdout, fromInput.stdout]).toEqual(['from a file\n', 'from input\n'])
  })

  it('fails when the tool does, with what the model would read', async () => {
    const { code, stdout } = await run(['call', 'mcp__old__fail', '{"message":"no luck"}'], { cwd })
    expect({ code, stdout }).toEqual({ code: 1, stdout: 'Error: no luck\n' })
    const json = await runJson(['call', 'mcp__old__fail', '{"message":"no luck"}'], { cwd })
    expect([json.code, json.value]).toEqual([1, expect.objectContaining({ isError: true, value: null })])
  })

  it('escapes what could act on the terminal, and loses nothing of it in JSON', async () => {
    const message = 'red \u{1b}[31m, reversed \u{202e}txt'
    const args = ['call', 'mcp__old__echo', JSON.stringify({ message })]
    const shown = await run(args, { cwd })
    expect(shown.stdout).toBe('red \\u{1b}[31m, reversed \\u{202e}txt\n')
    const json = await runJson(args, { cwd })
    expect(json.stdout).not.toContain('\u{1b}')
    expect(json.stdout).not.toContain('\u{202e}')
    expect(json.value).toHaveProperty('value.content.0.text', message)
  })

  it('saves images, sounds and binary resources with the right extension, and overwrites nothing', async () => {
    const folder = await mkdtemp(join(cwd, 'saved-'))
    const save = (tool: string, args = '{}') => run(['call', tool, args, '--save', folder], { cwd })
    await save('mcp__web__image', '{"format":"all"}')
    await save('mcp__web__image')
    await save('mcp__web__audio')
    await save('mcp__web__embedded_blob')
    const { stderr } = await save('mcp__web__echo', '{"message":"text"}')
    expect((await readdir(folder)).toSorted()).toEqual(
      ['01 (2).png', '01-pic.png', '01.png', '01.wav', '02.jpg', '03.webp', '04.gif'].toSorted(),
    )
    expect(await readFile(join(folder, '01 (2).png'), 'base64')).toBe(images.png.data)
    expect(stderr).toContain('no binary block')
    await rm(folder, { recursive: true })
  })
})

describe('resources', () => {
  it('lists the resources of a server', async () => {
    const { code, stdout } = await run(['resources', 'old'], { cwd })
    expect(stdout).toMatch(/^URI +NAME +TYPE +SIZE +DESCRIPTION\n/)
    expect(stdout).toMatch(
      /^fixture:\/\/text\/greeting +A greeting +text\/plain +13 bytes +Plain text in two lines$/m,
    )
    expect(code).toBe(0)
    const json = await runJson(['resources', 'web'], { cwd })
    expect(json.value).toContainEqual(
      expect.objectContaining({ uri: 'fixture://text/data.json', mimeType: 'application/json' }),
    )
  })

  it('lists the templates of a server, and says when there are none', async () => {
    const templates = await run(['templates', 'web'], { cwd })
    expect(templates.stdout).toMatch(/^fixture:\/\/echo\/\{text\} +Echo +text\/plain/m)
    const none = await run(['templates', 'new'], { cwd })
    expect(none).toMatchObject({ code: 0, stdout: 'new lists none.\n' })
  })

  it('reads text as it is, describes binary data, and writes it to a file', async () => {
    const text = await run(['read', 'web', 'fixture://text/greeting'], { cwd })
    expect(text.stdout).toBe('Hello,\nworld.\n')
    const described = await run(['read', 'web', 'fixture://binary/bytes'], { cwd })
    expect(described.stdout).toBe(
      '[binary fixture://binary/bytes: unknown type, 6 bytes; -o FILE writes it to a file]\n',
    )
    const file = join(cwd, 'bytes')
    const written = await run(['read', 'old', 'fixture://binary/bytes', '-o', file], { cwd })
    expect(written).toMatchObject({ code: 0, stdout: '' })
    expect([...(await readFile(file))]).toEqual([0, 1, 2, 253, 254, 255])
    const json = await runJson(['read', 'web', 'fixture://echo/x'], { cwd })
    expect(json.value).toHaveProperty('contents.0.text', 'x')
  })

  it('fails for a resource that is not there, and for a server without resources', async () => {
    const missing = await runJson(['read', 'web', 'fixture://nothing'], { cwd })
    expect(missing).toMatchObject({
      code: 1,
      value: { error: expect.stringContaining('fixture://nothing') as string },
    })
    const incapable = await run(['read', 'new', 'fixture://text/greeting'], { cwd })
    expect(incapable.code).toBe(1)
    expect(incapable.stderr).toMatch(/^error: .*resources/m)
  })
})

describe('prompt', () => {
  it('shows what MCP adds to the system prompt, as the model gets it', async () => {
    const { code, stdout } = await run(['prompt'], { cwd })
    expect(stdout).toContain('["new","old","web"]')
    expect(stdout).toContain('Use {{braces}} and \\u{202e}nothing hidden.')
    expect(code).toBe(0)
  })
})
