import { visibleText } from '@deepseek-ai/dsh-mcp-text'
import type { JsonValue } from '@deepseek-ai/dsh-tools'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { resultText, resultTextAsync } from '../src/projection.ts'
import { read } from './support.ts'

describe('the text of a result', () => {
  it('is the server and the JSON for a list', () => {
    expect(resultText('docs', { resources: [{ uri: 'file:///a', name: 'A' }], nextCursor: '2' })).toBe(
      `MCP server: docs
{
  "resources": [
    {
      "uri": "file:///a",
      "name": "A"
    }
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
    {
      "uri": "file:///a.md",
      "mimeType": "text/markdown",
      "text": "[14 characters, below]"
    },
    {
      "uri": "file:///b.txt",
      "text": "[0 characters, below]",
      "_meta": {
        "lines": 0
      }
    }
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
    expect(text).toContain(`"blob": "[image/png, ${bytes} bytes of binary data, not shown]"`)
    expect(Buffer.from(blob, 'base64').length).toBe(bytes)
  })

  it('says when the type of a blob or the URI of a text is not known', () => {
    const text = resultText('docs', read({ blob: 'TWFu' }, { text: 'x' }, { blob: 'TWFu', mimeType: 7 }))
    expect(text.match(/\[unknown type, 3 bytes/g)).toHaveLength(2)
    expect(text).toContain('\n\n[content 2: no URI]\nx')
  })

  it('leaves a blob or a text anywhere else alone', () => {
    const value = { contents: [['x'], null, 7, { blob: 1, text: 2 }], blob: 'TWFu', _meta: { blob: 'TWFu' } }
    expect(resultText('docs', value)).toBe(`MCP server: docs\n${JSON.stringify(value, undefined, 2)}`)
  })

  it.each([[null], ['text'], [7], [[{ contents: [{ blob: 'TWFu' }] }]], [{ contents: { blob: 'TWFu' } }]])(
    'is the plain JSON of %j, which is no result of MCP',
    (value) => {
      expect(resultText('docs', value)).toBe(`MCP server: docs\n${JSON.stringify(value, undefined, 2)}`)
    },
  )

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
    expect(text).toContain(String.raw`"mimeType": "text/\u{200b}plain"`)
    expect(text).toContain(String.raw`red \u{1b}[31m\u{e0041}`)
    expect(text).toMatch(/"blob": "\[(x\\u\{feff\}){127}x, 3 bytes/)
    expect(text).toContain(String.raw`"key\u{2066}": "\ud800\u{85}"`)
    expect(visibleText(text)).toBe(text)
  })

  it('leaves the value as it was', () => {
    const value = read({ uri: 'a:b', text: 'x' }, { uri: 'a:c', blob: 'TWFu' })
    const before = structuredClone(value)
    resultText('docs', value)
    expect(value).toEqual(before)
  })

  it('is the same in both forms and safe, for any JSON', async () => {
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
        expect(await resultTextAsync('docs', value as JsonValue)).toBe(text)
        expect(visibleText(text)).toBe(text)
      }),
    )
  })
})
