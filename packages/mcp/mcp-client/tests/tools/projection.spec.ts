import type { ImageAttachmentRef } from '@deepseek-ai/dsh-attachment'
import { visibleText } from '@deepseek-ai/dsh-mcp-text'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ImageOutcome } from '../../src/tools/images.ts'
import { imagesOf, project, projectNow } from '../../src/tools/projection.ts'
import { readResult, type McpResult } from '../../src/tools/result.ts'
import { turnsDuring } from './turns.ts'

const text = (written: string) => ({ type: 'text', text: written })
const png = { type: 'image', mimeType: 'image/png', data: 'QUJD' }
const ref = (name: string) => ({ attachmentId: name }) as unknown as ImageAttachmentRef
const forUser = { annotations: { audience: ['user'] } }

async function resultOf(...content: unknown[]): Promise<McpResult> {
  return (await readResult({ content })).result
}

/** The text of a result, made in turns and at once, which has to be the same. */
async function textOf(result: McpResult): Promise<string> {
  const outcomes = imagesOf(result).map((): ImageOutcome => ({ ref: ref('x') }))
  const { text: content } = await project(result, outcomes)
  expect(projectNow(result)).toEqual(content)
  expect(content).toHaveLength(1)
  return content[0].text
}

describe('what a model reads of a result', () => {
  it.each<[string, unknown[], string]>([
    ['texts, on lines of their own', [text('one'), text('two')], 'one\ntwo'],
    ['a text without characters', [text('')], ''],
    ['what is hidden in a text', [text('a\u202eb\u001b[2J')], 'a\\u{202e}b\\u{1b}[2J'],
    [
      'a resource link, whole',
      [
        {
          type: 'resource_link',
          name: 'n',
          title: 'T',
          uri: 'a:b',
          mimeType: 'text/x',
          size: 5,
          description: 'd',
        },
      ],
      '[resource link] T (n): a:b (text/x, 5 bytes)',
    ],
    ['a resource link, bare', [{ type: 'resource_link', name: 'n', uri: 'a:b' }], '[resource link] n: a:b'],
    [
      'a resource link with a type alone',
      [{ type: 'resource_link', name: 'n', uri: 'a:b', mimeType: 'a/b' }],
      '[resource link] n: a:b (a/b)',
    ],
    [
      'a resource link with a size alone',
      [{ type: 'resource_link', name: 'n', uri: 'a:b', size: 0 }],
      '[resource link] n: a:b (0 bytes)',
    ],
    [
      'a resource link with fields of the wrong type',
      [{ type: 'resource_link', name: 'n', uri: 'a:b', title: 1, size: '5', mimeType: null }],
      '[resource link] n: a:b',
    ],
    [
      'a text resource',
      [{ type: 'resource', resource: { uri: 'a:b', text: 'x\ny' } }],
      '[resource a:b]\nx\ny',
    ],
    [
      'a text resource with a type',
      [{ type: 'resource', resource: { uri: 'a:b', mimeType: 'text/x', text: '' } }],
      '[resource a:b (text/x)]\n',
    ],
    [
      'a binary resource',
      [{ type: 'resource', resource: { uri: 'a:b', mimeType: 'image/png', blob: 'QUI=' } }],
      '[resource a:b not shown: image/png, 2 bytes]',
    ],
    [
      'a binary resource without a type',
      [{ type: 'resource', resource: { uri: 'a:b', mimeType: 7, blob: 'QUI=' } }],
      '[resource a:b not shown: unknown type, 2 bytes]',
    ],
    [
      'a sound',
      [{ type: 'audio', mimeType: 'audio/wav', data: 'QUJD' }],
      '[audio not shown: audio/wav, 3 bytes]',
    ],
    ['an image as a line', [png], '[image: image/png, 3 bytes]'],
    [
      'an unknown type',
      [{ type: 'holo"gram\n' }],
      '[content of the unknown type "holo\\"gram\\\\n", not shown]',
    ],
    ['nothing', [], 'The tool returned no content.'],
    [
      'that everything is for somebody else',
      [{ ...text('a'), ...forUser }],
      'The tool returned content for the user only; there is nothing in it for you.',
    ],
    [
      'only what is for the assistant',
      [
        text('a'),
        { ...text('b'), ...forUser },
        { ...text('c'), annotations: { audience: ['user', 'assistant'] } },
        { ...text('d'), annotations: { audience: [] } },
        { ...text('e'), annotations: { audience: 'user', priority: 1 } },
        { ...text('f'), annotations: 'no annotations' },
        { type: 'hologram', ...forUser },
      ],
      'a\nc\nd\ne\nf',
    ],
  ])('is %s', async (_, content, expected) => {
    expect(await textOf(await resultOf(...content))).toBe(expected)
  })

  it('is bounded and on one line where the server describes a block', async () => {
    const long = `\u202e\n${'x'.repeat(100_000)}`
    const shown = await textOf(
      await resultOf(
        { type: 'resource_link', name: long, title: long, uri: long, mimeType: long },
        { type: 'image', mimeType: long, data: '' },
        { type: long },
      ),
    )
    expect(shown.length).toBeLessThan(4000)
    expect(shown.split('\n')).toHaveLength(3)
    expect(shown).not.toContain('\u202e')
  })

  it('never holds a payload', async () => {
    const payload = 'SECRET'.repeat(100)
    const shown = await textOf(
      await resultOf(
        { type: 'image', mimeType: 'image/png', data: payload },
        { type: 'audio', mimeType: 'audio/wav', data: payload },
        { type: 'resource', resource: { uri: 'a:b', blob: payload } },
        { type: 'hologram', data: payload },
      ),
    )
    expect(shown).not.toContain('SECRET')
  })

  it('is the structured content where there is no text', async () => {
    const json = '{\n  "a": "\\\\u{202e}"\n}'.replace('\\\\', '\\')
    const structured = async (...content: unknown[]) =>
      await textOf((await readResult({ content, structuredContent: { a: '\u202e' } })).result)
    expect(await structured()).toBe(json)
    expect(await structured(text(' \n'))).toBe(` \n\n${json}`)
    expect(await structured({ ...text('x'), ...forUser })).toBe(json)
    expect(await structured(png)).toBe(`[image: image/png, 3 bytes]\n${json}`)
    expect(await structured(text('x'))).toBe('x')
  })

  it('is structured content of any JSON type', async () => {
    for (const structuredContent of [null, 0, 'a', [1]]) {
      const { result } = await readResult({ content: [], structuredContent })
      expect(await textOf(result)).toBe(JSON.stringify(structuredContent, undefined, 2))
    }
  })

  it('is made in turns, also of many short texts', async () => {
    const result = await resultOf(...Array.from({ length: 1000 }, () => text('x'.repeat(1000))))
    expect(await turnsDuring(() => project(result, []))).toBeGreaterThan(10)
    const few = await resultOf(...Array.from({ length: 8 }, () => text('x'.repeat(1000))))
    expect(await turnsDuring(() => project(few, []))).toBe(0)
  })

  it('describes blocks in turns, not all before the first', async () => {
    let described = 0
    const link = {
      type: 'resource_link' as const,
      name: 'a',
      get uri() {
        described++
        return `a:${'x'.repeat(2000)}`
      },
    }
    const result = { content: Array.from({ length: 1000 }, () => link) }
    expect(imagesOf(result)).toEqual([])
    expect(described).toBe(0)
    let atFirstTurn = Number.POSITIVE_INFINITY
    setImmediate(() => {
      atFirstTurn = described
    })
    await project(result, [])
    expect(described).toBe(1000)
    expect(atFirstTurn).toBeLessThan(100)
  })

  it('is every text escaped, whatever the texts are', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string({ unit: 'binary' }), { minLength: 1 }), async (texts) => {
        expect(await textOf(await resultOf(...texts.map(text)))).toBe(texts.map(visibleText).join('\n'))
      }),
    )
  })
})

describe('a result with images', () => {
  it('has them between the texts, in order, where the store took them', async () => {
    const result = await resultOf(text('a'), text('b'), png, png, text('c'), png)
    const { text: lines, native } = await project(result, [
      { ref: ref('1') },
      { ref: ref('2') },
      { ref: ref('3') },
    ])
    expect(native).toEqual([
      { type: 'text', text: 'a\nb' },
      { type: 'image', attachment: ref('1') },
      { type: 'image', attachment: ref('2') },
      { type: 'text', text: 'c' },
      { type: 'image', attachment: ref('3') },
    ])
    const line = '[image: image/png, 3 bytes]'
    expect(lines).toEqual([{ type: 'text', text: ['a', 'b', line, line, 'c', line].join('\n') }])
  })

  it('says of each that is refused why', async () => {
    const { text: lines, native } = await project(await resultOf(text('a'), png), [{ refusal: 'it is ugly' }])
    expect(lines).toEqual([{ type: 'text', text: 'a\n[image not shown: image/png, 3 bytes; it is ugly]' }])
    expect(native).toEqual(lines)
  })

  it('does not count those that are for the user', async () => {
    const result = await resultOf({ ...png, ...forUser }, { ...png, data: 'QQ==' })
    expect(imagesOf(result)).toEqual([{ ...png, data: 'QQ==' }])
    const { native } = await project(result, [{ ref: ref('1') }])
    expect(native).toEqual([{ type: 'image', attachment: ref('1') }])
  })

  it('has no second form when it has none', async () => {
    expect((await project(await resultOf(text('a')), [])).native).toBeUndefined()
  })
})
