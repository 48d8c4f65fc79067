import { visibleText } from '@deepseek-ai/dsh-mcp-text'
import type { JsonValue } from '@deepseek-ai/dsh-tools'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { resultText, showPieces } from '../src/projection.ts'
import { read } from './support.ts'

describe('the text of a result', () => {
  it('is the server and the JSON for a list', () => {
    expect(
      resultText('docs', {
        resources: [
          { uri: 'file:///a', name: 'A' },
          { uri: 'file:///b', name: 'B' },
        ],
        nextCursor: '2',
      }),
    ).toBe(
      `MCP server: docs
{
  "resources": [
    {"uri":"file:///a","name":"A"},
    {"uri":"file:///b","name":"B"}
  ],
  "nextCursor": "2"
}`,
    )
  })

  it('is the JSON of a read with each text below it, as it is', () => {
    const value = read(
      { uri: 'file:///a.md', mimeType: 'text/markdown', text: '# "A"\n\n\tcode\r\n' },
      { uri: 'file:///b.txt', text: '', _meta: { lines: 0 } },
    )
    expect(resultText('docs', value)).toBe(
      `MCP server: docs
{
  "contents": [
    {"uri":"file:///a.md","mimeType":"text/markdown","text":"[14 characters, below]"},
    {"uri":"file:///b.txt","text":"[0 characters, below]","_meta":{"lines":0}}
  ]
}

[content 1: file:///a.md]
# "A"

\tcode\r


[content 2: file:///b.txt]
`,
    )
  })

  it.each([
    ['', 0],
    ['TQ==', 1],
    ['TWE=', 2],
    ['TWFu', 3],
    ['TWFuTQ==', 4],
    ['TQ', 1],
    ['TWE', 2],
  ])('describes the blob %j by its type and its %i bytes', (blob, bytes) => {
    const text = resultText('docs', read({ uri: 'a:b', mimeType: 'image/png', blob }))
    expect(text).toContain(`"blob":"[image/png, ${bytes} bytes of binary data, not shown]"`)
    expect(Buffer.from(blob, 'base64').length).toBe(bytes)
  })

  it('says when the type of a blob or the URI of a text is not known', () => {
    const text = resultText('docs', read({ blob: 'TWFu' }, { text: 'x' }, { blob: 'TWFu', mimeType: 7 }))
    expect(text.match(/\[unknown type, 3 bytes/g)).toHaveLength(2)
    expect(text).toContain('\n\n[content 2: no URI]\nx')
  })

  it('leaves a blob or a text anywhere else alone', () => {
    const value = { contents: [['x'], null, 7, { blob: 1, text: 2 }], blob: 'TWFu', _meta: { blob: 'TWFu' } }
    const text = resultText('docs', value)
    expect(JSON.parse(text.slice('MCP server: docs\n'.length))).toEqual(value)
  })

  it.each([
    [null],
    ['text'],
    [7],
    [{}],
    [{ contents: [] }],
    [[{ contents: [{ blob: 'TWFu' }] }]],
    [{ contents: { blob: 'TWFu' } }],
  ])('is the JSON of %j, which holds nothing to describe', (value) => {
    const [first, ...json] = resultText('docs', value).split('\n')
    expect(first).toBe('MCP server: docs')
    expect(JSON.parse(json.join('\n'))).toEqual(value)
  })

  it('does not grow with the nesting of the value', () => {
    let value: JsonValue = {}
    for (let depth = 0; depth < 1000; depth++) value = { a: [value] }
    expect(resultText('docs', { resources: [value] }).length).toBeLessThan(JSON.stringify(value).length + 100)
  })

  it('shows what would hide or act, wherever it stands', () => {
    const text = resultText(
      'docs',
      read(
        { uri: 'a:\u202e\n]b', mimeType: 'text/\u200bplain', text: 'red \x1b[31m\u{e0041}' },
        { uri: 'a:c', mimeType: 'x\u{feff}'.repeat(200), blob: 'TWFu' },
        { 'key\u2066': '\ud800\u0085' },
      ),
    )
    expect(text).toContain(String.raw`[content 1: a:\u{202e}\n]b]`)
    expect(text).toContain(String.raw`"mimeType":"text/\u{200b}plain"`)
    expect(text).toContain(String.raw`red \u{1b}[31m\u{e0041}`)
    expect(text).toMatch(/"blob":"\[(x\\u\{feff\}){127}x, 3 bytes/)
    expect(text).toContain(String.raw`"key\u{2066}":"\ud800\u{85}"`)
    expect(visibleText(text)).toBe(text)
  })

  it('takes of what was done ahead only what fits', async () => {
    const before = read({ uri: 'a:b', text: 'old' }, { uri: 'a:c', text: 'same' })
    const after = read({ uri: 'a:b', text: 'new' }, { uri: 'a:c', text: 'same' })
    const ahead = await showPieces('docs', before)
    const marked = ahead.map(({ raw, shown }) => ({ raw, shown: `<${shown}>` }))
    expect(resultText('docs', after, marked)).toMatch(/\]\n>new<\n\n\[content 2: a:c\]\n><same>$/)
  })

  it('is made ahead in turns, also of many short texts', async () => {
    const contents = Array.from({ length: 1000 }, () => ({ uri: 'a:b', text: 'x'.repeat(1000) }))
    let turns = 0
    let next = setImmediate(function count() {
      turns++
      next = setImmediate(count)
    })
    await showPieces('docs', read(...contents))
    clearImmediate(next)
    // The list of the contents alone takes a few.
    expect(turns).toBeGreaterThan(50)
  })

  it('leaves the value as it was', () => {
    const value = read({ uri: 'a:b', text: 'x' }, { uri: 'a:c', blob: 'TWFu' })
    const before = structuredClone(value)
    resultText('docs', value)
    expect(value).toEqual(before)
  })

  it('is the same with the work done ahead and safe, for any JSON', async () => {
    const content = fc.record(
      { uri: fc.string({ unit: 'binary' }), text: fc.string({ unit: 'binary' }), blob: fc.base64String() },
      { requiredKeys: [] },
    )
    const result = fc.oneof(
      fc.jsonValue(),
      fc.record({ contents: fc.array(fc.oneof(content, fc.jsonValue())) }),
    )
    await fc.assert(
      fc.asyncProperty(result, async (value) => {
        const text = resultText('docs', value as JsonValue)
        const ahead = await showPieces('docs', value as JsonValue)
        expect(resultText('docs', value as JsonValue, ahead)).toBe(text)
        expect(ahead.map(({ shown }) => shown).join('')).toBe(text)
        expect(visibleText(text)).toBe(text)
      }),
    )
  })
})
