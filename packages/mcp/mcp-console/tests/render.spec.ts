/** What a person reads: text, JSON, tables, status lines, suggestions. */
import { describe, expect, it } from 'vitest'
import type { ServerRow } from '../src/composition/servers.ts'
import { byteCount, renderContent, type ModelBlock } from '../src/render/content.ts'
import { renderStatus, renderStatusTable } from '../src/render/status.ts'
import { didYouMean, suggest } from '../src/render/suggest.ts'
import { renderTable } from '../src/render/table.ts'
import { errorLine, jsonText } from '../src/render/text.ts'
import { renderToolOverview, renderTools, type ToolInfo } from '../src/render/tools.ts'
import { serverOf } from '../src/commands/tools.ts'

const plain = (_tone: string, text: string) => text

describe('JSON', () => {
  it('is lossless, and shows nothing that a terminal could act on or hide', () => {
    const value = {
      escape: '\u{1b}[2J\u{9b}31m',
      direction: '\u{202e}\u{2066}',
      joiner: 'a\u{200d}b\u{feff}',
      tag: '\u{e0041}',
      lone: '\ud800',
      line: 'a\u{2028}b\nc',
      backslash: '\\\u{202e} \\u{202e}',
      words: 'grüße 你好 👩‍👩‍👧 é',
    }
    const text = jsonText(value)
    expect(JSON.parse(text)).toEqual(value)
    for (const character of '\u{1b}\u{9b}\u{202e}\u{2066}\u{200d}\u{feff}\u{2028}\u{e0041}') {
      expect(text).not.toContain(character)
    }
    expect(text).toContain('grüße 你好')
    expect(text.isWellFormed()).toBe(true)
  })
})

describe('an error', () => {
  it.each([
    [new Error('one line'), 'one line'],
    [
      new Error('invalid config:\n  - mcp-client(x): invalid configuration\n  - a: missing\n  - b: unknown'),
      'mcp-client(x): invalid configuration: a: missing; b: unknown',
    ],
    [new Error('bad indentation (2:3)\n\n 1 | a: b\n 2 |  c: d\n-------^'), 'bad indentation (2:3)'],
    [new Error('first\n\nsecond'), 'first; second'],
    [new Error('\u{1b}[31mred'), '\\u{1b}[31mred'],
    ['no error object', 'no error object'],
  ])('is told on one line: %j', (error, line) => {
    expect(errorLine(error)).toBe(line)
  })

  it('is cut when it is endless', () => {
    expect(errorLine(new Error('x'.repeat(100_000))).length).toBeLessThanOrEqual(2000)
  })
})

describe('a table', () => {
  it('is aligned, numbers right, wide characters counted as two, colours as none', () => {
    const rows = [
      ['你好', '7'],
      ['\u{1b}[32mgreen\u{1b}[39m', '1234'],
    ]
    expect(renderTable([{ title: 'NAME' }, { title: 'COUNT', isNumber: true }], rows).split('\n')).toEqual([
      'NAME   COUNT',
      '你好       7',
      '\u{1b}[32mgreen\u{1b}[39m   1234',
    ])
  })
})

const row: ServerRow = {
  serverName: 'web',
  transport: 'streamable-http',
  status: 'connected',
  protocolVersion: '2026-07-28',
  toolCount: 2,
  resourceCount: 4,
  connectMs: 81,
  error: null,
}

describe('the status table', () => {
  it('has one line for each server, and the errors in full below it', () => {
    const down = {
      ...row,
      serverName: 'old',
      status: 'failed',
      protocolVersion: null,
      toolCount: 0,
      resourceCount: null,
      connectMs: null,
      error: 'no such command',
    } as const
    expect(renderStatusTable([row, down], plain)).toBe(
      [
        'SERVER  TRANSPORT        STATUS     PROTOCOL    TOOLS  RESOURCES  CONNECTED IN',
        'web     streamable-http  connected  2026-07-28      2          4         81 ms',
        'old     streamable-http  failed     -               0          -             -',
        '',
        'old: no such command',
      ].join('\n'),
    )
  })

  it('says when there is no server', () => {
    expect(renderStatusTable([], plain)).toBe('The composition configures no MCP server.')
  })
})

describe('a change', () => {
  const now = new Date(1_000_000)
  it.each([
    [{ status: 'connecting', toolCount: 3, attempt: 2 }, 'web connecting (attempt 2)'],
    [
      { status: 'connected', toolCount: 1, protocolVersion: '2025-11-25' },
      'web connected (2025-11-25, 1 tool)',
    ],
    [
      { status: 'reconnecting', toolCount: 1, attempt: 3, nextAttemptAt: 1_001_500, error: 'it died' },
      'web reconnecting (attempt 3 in 1.5 s): it died',
    ],
    [{ status: 'failed', toolCount: 0, error: 'it died' }, 'web failed (0 tools): it died'],
    [{ status: 'disposed', toolCount: 0 }, 'web disposed'],
  ] as const)('%j', (status, line) => {
    expect(renderStatus({ serverName: 'web', ...status }, plain, now)).toBe(line)
  })
})

describe('tools', () => {
  const tools: ToolInfo[] = [
    {
      name: 'mcp__web__search',
      server: 'web',
      description: 'Find pages. Takes one word.\nMore.',
      inputSchema: { type: 'object' },
      outputSchema: {},
    },
    { name: 'mcp__web__quiet', server: 'web', description: '', inputSchema: {} },
    { name: 'run_code', server: null, description: 'a\u{202e}b', inputSchema: {} },
  ]

  it('are overviewed by their first sentence, fitted to the terminal', () => {
    expect(renderToolOverview(tools, plain, undefined).split('\n')).toEqual([
      'web: 2 tools',
      '  mcp__web__search  Find pages.',
      '  mcp__web__quiet',
      '',
      'the host: 1 tool',
      '  run_code          a\\u{202e}b',
    ])
    const long = [{ ...tools[0]!, description: 'word '.repeat(100) }]
    expect(renderToolOverview(long, plain, 60).split('\n')[1]!.length).toBeLessThan(60)
  })

  it('are shown whole, with their schemas when those are asked for', () => {
    expect(renderTools(tools, plain)).toBe(
      [
        'web: 2 tools',
        '  mcp__web__search',
        '    Find pages. Takes one word.',
        '    More.',
        '    input',
        '    {',
        '      "type": "object"',
        '    }',
        '    output',
        '    {}',
        '  mcp__web__quiet',
        '',
        'the host: 1 tool',
        '  run_code',
        '    a\\u{202e}b',
      ].join('\n'),
    )
  })

  it('belong to the server with the longest name that fits', () => {
    expect(serverOf('mcp__a__b__c', ['a', 'a__b', 'b'])).toBe('a__b')
    expect(serverOf('mcp__a__c', ['a', 'a__b'])).toBe('a')
    expect(serverOf('mcp__ab__c', ['a'])).toBeNull()
    expect(serverOf('list_mcp_resources', ['a'])).toBeNull()
  })
})

describe('what a model reads', () => {
  it('is shown in order, an image by what is known of it', () => {
    const attachment = { attachmentId: 'x', mediaType: 'image/png', bytes: 4567, width: 8, height: 6 }
    const content = [
      { type: 'text', text: 'a\u{7}' },
      { type: 'image', attachment },
    ] as unknown as ModelBlock[]
    expect(renderContent(content)).toBe('a\\u{7}\n[image: image/png, 8 × 6 pixels, 4,567 bytes]')
  })

  it('counts bytes', () => {
    expect([0, 1, 1_234_567].map(byteCount)).toEqual(['0 bytes', '1 byte', '1,234,567 bytes'])
  })
})

describe('a suggestion', () => {
  const names = ['mcp__web__search', 'mcp__web__read_page', 'mcp__old__echo', 'mcp__new__echo']
  it.each([
    ['mcp__web__serach', ['mcp__web__search']],
    ['MCP__WEB__SEARCH', ['mcp__web__search']],
    ['echo', ['mcp__new__echo', 'mcp__old__echo']],
    ['xyz', []],
    ['', []],
  ])('for %j', (word, expected) => {
    expect(suggest(word, names)).toEqual(expected)
  })

  it('is a question, or nothing', () => {
    expect(didYouMean('echo', names)).toBe(' (did you mean mcp__new__echo or mcp__old__echo?)')
    expect(didYouMean('xyz', names)).toBe('')
    expect(didYouMean('xyz', [])).toBe('')
  })
})
