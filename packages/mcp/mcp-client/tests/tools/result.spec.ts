import { describe, expect, it } from 'vitest'
import { InvalidResultError, isKnownBlock, MAX_DEPTH, readResult } from '../../src/tools/result.ts'
import { turnsDuring } from './turns.ts'

const TEXT = { type: 'text', text: 'hi' }

describe('a tool result', () => {
  it('becomes its content and its structured content, nothing else', async () => {
    const raw = {
      content: [TEXT],
      structuredContent: { a: 1 },
      _meta: { secret: true },
      isError: false,
      more: 1,
    }
    expect(await readResult(raw)).toEqual({
      result: { content: [TEXT], structuredContent: { a: 1 } },
      isError: false,
    })
  })

  it('has no structured content when the raw one has none', async () => {
    const { result } = await readResult({ content: [] })
    expect(result).toStrictEqual({ content: [] })
  })

  it('keeps structured content of any JSON type', async () => {
    for (const structuredContent of [null, 0, '', false, []]) {
      const { result } = await readResult({ content: [], structuredContent })
      expect(result).toStrictEqual({ content: [], structuredContent })
    }
  })

  it('keeps every field of every block, those of an unknown type included', async () => {
    const content = [
      { ...TEXT, annotations: { audience: ['user'] }, _meta: { a: 1 }, more: 1 },
      { type: 'image', data: 'AA==', mimeType: 'image/png' },
      { type: 'audio', data: 'AA==', mimeType: 'audio/wav' },
      { type: 'resource_link', uri: 'a:b', name: 'c' },
      { type: 'resource', resource: { uri: 'a:b', text: '' } },
      { type: 'resource', resource: { uri: 'a:b', blob: '' } },
      { type: 'hologram', depth: [1, { a: null }] },
      { type: 'toString' },
    ]
    const { result } = await readResult({ content })
    expect(result.content).toEqual(content)
    expect(result.content.map(isKnownBlock)).toEqual([true, true, true, true, true, true, false, false])
  })

  it('may leave out its content where it has structured content or an error', async () => {
    expect(await readResult({ structuredContent: 1 })).toMatchObject({ result: { content: [] } })
    expect(await readResult({ isError: true })).toEqual({ result: { content: [] }, isError: true })
  })

  it.each<[string, unknown, string]>([
    ['nothing', undefined, 'it is not an object'],
    ['null', null, 'it is not an object'],
    ['a text', 'done', 'it is not an object'],
    ['a list', [TEXT], 'it is not an object'],
    ['an empty object', {}, 'content is not a list of blocks'],
    ['the result of an old revision', { toolResult: 1 }, 'content is not a list of blocks'],
    ['content that is no list', { content: TEXT }, 'content is not a list of blocks'],
    ['isError that is no boolean', { content: [], isError: 'no' }, 'isError is neither true nor false'],
    ['a block that is no object', { content: [TEXT, 'hi'] }, 'content[1] is not a content block'],
    ['a block without a type', { content: [{ text: 'hi' }] }, 'content[0] is not a content block'],
    ['a text block without text', { content: [{ type: 'text' }] }, 'content[0].text is not a string'],
    [
      'an image without data',
      { content: [{ type: 'image', mimeType: 'image/png' }] },
      'content[0].data is not a string',
    ],
    [
      'an image without a type',
      { content: [{ type: 'image', data: '' }] },
      'content[0].mimeType is not a string',
    ],
    [
      'a sound without data',
      { content: [{ type: 'audio', mimeType: 'a/b' }] },
      'content[0].data is not a string',
    ],
    [
      'a link without a name',
      { content: [{ type: 'resource_link', uri: 'a:b' }] },
      'content[0].name is not a string',
    ],
    [
      'a resource that is none',
      { content: [{ type: 'resource', resource: 1 }] },
      'content[0].resource is not an object',
    ],
    [
      'a resource without a URI',
      { content: [{ type: 'resource', resource: { text: '' } }] },
      'content[0].resource.uri is not a string',
    ],
    [
      'a resource without contents',
      { content: [{ type: 'resource', resource: { uri: 'a:b' } }] },
      'content[0].resource.blob is not a string',
    ],
    [
      'a resource with a number for text',
      { content: [{ type: 'resource', resource: { uri: 'a:b', text: 1 } }] },
      'content[0].resource.text is not a string',
    ],
    [
      'a number beyond JSON',
      { content: [], structuredContent: { far: Infinity } },
      'the number "far" is beyond what JSON can hold',
    ],
    [
      'a cycle',
      { content: [], structuredContent: cycle() },
      `it is nested more than ${MAX_DEPTH} levels deep`,
    ],
    [
      'a value that JSON cannot write',
      { content: [], structuredContent: 1n },
      'it cannot be written as JSON',
    ],
  ])('is not %s', async (_, raw, violation) => {
    const reading = readResult(raw)
    await expect(reading).rejects.toThrow(InvalidResultError)
    await expect(reading).rejects.toThrow(violation)
  })

  it('may be nested as deep as the limit says', async () => {
    // The list of blocks and the block are two levels below the result, which is one.
    const deep = (levels: number) => ({ content: [], structuredContent: nest(levels) })
    await expect(readResult(deep(MAX_DEPTH - 1))).resolves.toMatchObject({ isError: false })
    await expect(readResult(deep(MAX_DEPTH))).rejects.toThrow(
      `it is nested more than ${MAX_DEPTH} levels deep`,
    )
  })

  it('is the very object that came over the wire when that is lossless JSON', async () => {
    const structuredContent = { a: [1, { b: null }], text: 'x' }
    const { result } = await readResult({ content: [TEXT], structuredContent })
    expect(result.structuredContent).toBe(structuredContent)
    expect(result.content[0]).toBe(TEXT)
  })

  it('has no negative zero, which JSON can be parsed to but not written as', async () => {
    const { result } = await readResult({ content: [], structuredContent: JSON.parse('{"zero":-0.0}') })
    expect(result).toStrictEqual({ content: [], structuredContent: { zero: 0 } })
  })

  it('has no negative zero in a value that cannot be changed either', async () => {
    const structuredContent = Object.freeze({ a: Object.freeze([-0, 1]) })
    const { result } = await readResult({ structuredContent })
    expect(result).toStrictEqual({ content: [], structuredContent: { a: [0, 1] } })
    expect(structuredContent.a[0]).toBe(-0)
  })

  it('is made plain of what only looks like JSON', async () => {
    class Point {
      x = 1
    }
    const sparse: unknown[] = [1]
    sparse[2] = 3
    const structuredContent = {
      date: new Date(0),
      map: new Map([[1, 2]]),
      point: new Point(),
      sparse,
      marked: { [Symbol('mark')]: 1, a: 1 },
      bare: Object.assign(Object.create(null) as object, { a: 1 }),
    }
    const { result } = await readResult({ structuredContent })
    expect(result.structuredContent).toStrictEqual({
      date: '1970-01-01T00:00:00.000Z',
      map: {},
      point: { x: 1 },
      sparse: [1, null, 3],
      marked: { a: 1 },
      bare: { a: 1 },
    })
  })

  it('is none when its content makes something else of itself', async () => {
    const content = Object.assign([TEXT], { toJSON: () => 'a text' })
    await expect(readResult({ content, structuredContent: new Date(0) })).rejects.toThrow(
      'content is not a list of blocks',
    )
  })

  it('is the JSON form of what a program returned, without undefined fields', async () => {
    const { result } = await readResult({
      content: [{ ...TEXT, annotations: undefined }],
      structuredContent: { at: new Date(0), gone: undefined, list: [undefined] },
    })
    expect(result).toStrictEqual({
      content: [TEXT],
      structuredContent: { at: '1970-01-01T00:00:00.000Z', list: [null] },
    })
  })

  it('lets others have their turn while a large one is checked', async () => {
    const structuredContent = Array.from({ length: 100_000 }, () => ({ a: [1] }))
    expect(await turnsDuring(() => readResult({ content: [], structuredContent }))).toBeGreaterThan(10)
  })
})

function nest(levels: number): unknown {
  let value: unknown = 1
  for (let level = 0; level < levels; level++) value = [value]
  return value
}

function cycle(): unknown {
  const list: unknown[] = [1]
  list.push(list, list)
  return list
}
