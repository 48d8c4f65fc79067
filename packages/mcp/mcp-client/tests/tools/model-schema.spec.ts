import { describe, expect, it } from 'vitest'
import { createMcpToolDefinition } from '../../src/index.ts'
import {
  MAX_DESCRIPTION_LENGTH,
  MAX_SCHEMA_DEPTH,
  MAX_SCHEMA_LENGTH,
  modelSchema,
  modelText,
} from '../../src/tools/model-schema.ts'
import { host } from '../support.ts'

const RLO = '\u202e'

const named = (count: number, schema: object) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`name${index}`.padEnd(14, '_'), schema]))

describe('a schema for the model', () => {
  it('is the same object when nothing in it hides', () => {
    const schema = {
      type: 'object',
      title: 'Ordinary',
      properties: {
        a: { type: 'string', enum: ['x', 'y'], pattern: '^[a-z]+$' },
        b: { items: [{ const: 1 }, true] },
      },
      required: ['a'],
      $defs: { node: { description: 'two\nlines' } },
      additionalProperties: false,
      default: null,
    }
    const { schema: shown, obstacle } = modelSchema(schema)
    expect(shown).toBe(schema)
    expect(obstacle).toBeUndefined()
  })

  it('shows what is hidden in its words, at every depth, and leaves the original alone', () => {
    const schema = {
      description: `a${RLO}`,
      properties: { a: { title: `b${RLO}`, anyOf: [{ type: 'null' }, { $comment: `c${RLO}` }] } },
      $defs: { d: { description: `d${RLO}` } },
    }
    expect(modelSchema(schema)).toEqual({
      obstacle: undefined,
      schema: {
        description: 'a\\u{202e}',
        properties: { a: { title: 'b\\u{202e}', anyOf: [{ type: 'null' }, { $comment: 'c\\u{202e}' }] } },
        $defs: { d: { description: 'd\\u{202e}' } },
      },
    })
    expect(schema.description).toBe(`a${RLO}`)
  })

  it.each([
    ['a property name', { properties: { [`a${RLO}`]: {} } }],
    ['an enum value', { enum: ['a', `b${RLO}`] }],
    ['a constant, deep down', { const: { a: [{ b: RLO }] } }],
    ['a default', { default: RLO }],
    ['a name that is required', { required: [RLO] }],
    ['a pattern', { pattern: RLO }],
    ['a property name of the data', { examples: [{ [RLO]: 1 }] }],
    ['a definition', { $defs: { [RLO]: {} } }],
  ])('is open when it hides characters in %s, which cannot be shown and used at once', (_, schema) => {
    expect(modelSchema(schema)).toEqual({ schema: { type: 'object' }, obstacle: 'hides characters' })
  })

  it('takes what looks like a keyword for a name below properties, and for data below enum', () => {
    const schema = { properties: { description: { type: 'string' } }, enum: [{ title: 'a' }] }
    expect(modelSchema(schema).schema).toBe(schema)
    expect(modelSchema({ properties: { title: { description: RLO } } }).obstacle).toBeUndefined()
    expect(modelSchema({ properties: 'no object', title: 5 }).obstacle).toBeUndefined()
    expect(modelSchema({ enum: [{ title: RLO }] }).obstacle).toBe('hides characters')
  })

  it.each([
    ['schemas', (inner: unknown) => ({ items: inner })],
    ['data', (inner: unknown) => ({ const: inner })],
  ])('is open when its %s are nested deeper than the limit', (_, wrap) => {
    const nested = (levels: number) => {
      let schema: Record<string, unknown> = {}
      for (let level = 1; level < levels; level++) schema = wrap(schema)
      return schema
    }
    expect(modelSchema(nested(MAX_SCHEMA_DEPTH)).obstacle).toBeUndefined()
    expect(modelSchema(nested(MAX_SCHEMA_DEPTH + 1))).toEqual({
      schema: { type: 'object' },
      obstacle: 'is nested more than 256 levels deep',
    })
    expect(modelSchema(nested(100_000)).obstacle).toBe('is nested more than 256 levels deep')
  })

  it.each([
    ['one text', (length: number) => ({ enum: ['x'.repeat(length)] })],
    ['names', (length: number) => ({ properties: named(length / 20, {}) })],
    ['numbers', (length: number) => ({ enum: Array.from({ length: length / 8 }, () => 12_345) })],
    ['truths', (length: number) => ({ examples: Array.from({ length: length / 8 }, () => false) })],
    ['nothing', (length: number) => ({ default: Array.from({ length: length / 7 }, () => null) })],
    ['empty schemas', (length: number) => ({ anyOf: Array.from({ length: length / 3 }, () => ({})) })],
    ['empty lists', (length: number) => ({ const: Array.from({ length: length / 3 }, () => []) })],
  ])('is open when it is larger than the limit, of %s', (_, ofLength) => {
    const refused = 'takes more than 262144 characters'
    expect(modelSchema(ofLength(MAX_SCHEMA_LENGTH)).obstacle).toBe(refused)
    expect(modelSchema(ofLength(MAX_SCHEMA_LENGTH * 0.7)).obstacle).toBeUndefined()
  })

  it('has 0 for the negative zero, which the host does not take for JSON', () => {
    const schema = { minimum: -0, enum: [1, -0], default: { a: -0 }, properties: { a: { const: -0 } } }
    const { schema: shown, obstacle } = modelSchema(schema)
    expect(shown).toEqual({ minimum: 0, enum: [1, 0], default: { a: 0 }, properties: { a: { const: 0 } } })
    expect(obstacle).toBeUndefined()
    expect(schema.minimum).toBe(-0)
  })

  it.each([
    ['a number without an end', { maximum: Infinity }],
    ['a number that is none', { enum: [NaN] }],
    ['a field without a value', { minimum: undefined }],
    ['a function', { default: () => 1 }],
    ['a symbol', { const: Symbol('a') }],
    ['a big integer', { const: 1n }],
    ['an instance', { default: new Date(0) }],
    ['a list with a hole', { enum: Object.assign([], { length: 2 }) }],
  ])('is open when it holds %s, which JSON cannot', (_, schema) => {
    expect(modelSchema(schema)).toEqual({ schema: { type: 'object' }, obstacle: 'is not JSON' })
  })

  it('keeps no other tool from the models, whatever a provider wrote', async () => {
    const { ctx, schemas, logs } = await host()
    const add = (name: string, inputSchema: Record<string, unknown>) =>
      ctx.tools.register(createMcpToolDefinition(ctx, { name, inputSchema, call: async () => ({}) }))
    add('plain', { type: 'object' })
    add('zero', { type: 'object', properties: { a: { type: 'number', minimum: -0 } } })
    add('endless', { type: 'object', properties: { a: { type: 'number', maximum: Infinity } } })
    expect(schemas().map(({ parameters }) => parameters)).toEqual([
      { type: 'object' },
      { type: 'object', properties: { a: { type: 'number', minimum: 0 } } },
      { type: 'object' },
    ])
    expect(logs.text()).toContain(
      'the input schema of the tool "endless" is not JSON, so the model gets an open one',
    )
  })

  it('has descriptions that are cut at the limit', () => {
    const text = 'x'.repeat(MAX_DESCRIPTION_LENGTH)
    expect(modelText(text)).toBe(text)
    expect(modelText(`${text}y`).length).toBeLessThanOrEqual(MAX_DESCRIPTION_LENGTH)
    expect(modelText(`${text}y`)).toMatch(/… \(\+\d+ characters\)$/)
    expect(modelSchema({ description: `${text}y` }).schema['description']).toBe(modelText(`${text}y`))
  })

  it('passes on an error that has nothing to do with the schema', () => {
    const broken = {
      get title(): string {
        throw new Error('not mine')
      },
    }
    expect(() => modelSchema(broken)).toThrow('not mine')
  })
})
