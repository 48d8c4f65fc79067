import { validateJsonSchemaValue } from '@deepseek-ai/dsh-tools'
import { describe, expect, it, vi } from 'vitest'
import { costPerValue } from '../../src/tools/check-cost.ts'
import { MAX_CHECK_COST, outputContract } from '../../src/tools/output-schema.ts'

const SUM = { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] }
const MAP = { type: 'object', additionalProperties: { type: 'number' } }

function contractOf(advertised: Record<string, unknown> | undefined) {
  const onUncheckable = vi.fn<(reason: string) => void>()
  return { ...outputContract(advertised, onUncheckable), onUncheckable }
}

describe('a tool without an output schema', () => {
  it('may return structured content or none', () => {
    const { check, schema, unsupported } = contractOf(undefined)
    expect([check(undefined), check({ any: ['thing'] })]).toEqual([undefined, undefined])
    expect(unsupported).toBeUndefined()
    expect(validateJsonSchemaValue(schema, { content: [] })).toEqual([])
    expect(validateJsonSchemaValue(schema, { content: [], structuredContent: [1] })).toEqual([])
  })
})

describe('an output schema within the subset of the host', () => {
  it('becomes part of the tool definition', () => {
    const { schema, unsupported } = contractOf(SUM)
    expect(unsupported).toBeUndefined()
    expect(schema).toMatchObject({
      properties: { structuredContent: SUM },
      required: ['content', 'structuredContent'],
    })
    expect(
      validateJsonSchemaValue(schema, { content: [{ type: 'text' }], structuredContent: { sum: 1 } }),
    ).toEqual([])
    expect(validateJsonSchemaValue(schema, { content: [] })).not.toEqual([])
  })

  it('is one with the marks that generators put at its root', () => {
    const marked = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      $id: 'a',
      $comment: 'b',
      'x-c': true,
      ...SUM,
    }
    const { schema, unsupported } = contractOf(marked)
    expect(unsupported).toBeUndefined()
    expect(schema).toMatchObject({ properties: { structuredContent: SUM } })
    expect(schema).not.toHaveProperty('properties.structuredContent.$schema')
  })

  it('is what structured content is held to', () => {
    const { check } = contractOf(SUM)
    expect(check({ sum: 1 })).toBeUndefined()
    expect(check({ sum: 'three' })).toBe('"structuredContent.sum" must be a number')
    expect(check({})).toBe('missing required property "structuredContent.sum"')
  })

  it('may have the number -0, which the host does not take for JSON', () => {
    const sum = { type: 'number', enum: [-0, 1] }
    const { check, schema, unsupported } = contractOf({ type: 'object', properties: { sum } })
    expect(unsupported).toBeUndefined()
    expect(schema).toHaveProperty('properties.structuredContent.properties.sum.enum', [0, 1])
    expect([check({ sum: 0 }), check({ sum: 2 })]).toEqual([
      undefined,
      '"structuredContent.sum" must be one of [0,1]',
    ])
  })

  it('is what a large result is held to, whose first violations are named', () => {
    const { check, onUncheckable } = contractOf({ type: 'array', items: SUM })
    const rows = (sum: unknown) => Array.from({ length: 60_000 }, () => ({ sum }))
    expect(check(rows(1))).toBeUndefined()
    expect(check(rows('one'))).toMatch(
      /^"structuredContent\[0\]\.sum" must be a number; .*"structuredContent\[9\]\.sum" must be a number$/,
    )
    expect(onUncheckable).not.toHaveBeenCalled()
  })

  it('refuses a result of more values than can be checked in reasonable time', () => {
    const { check, onUncheckable } = contractOf({ type: 'array', items: { type: 'integer' } })
    const cost = costPerValue({ type: 'array', items: { type: 'integer' } })
    const most = Math.floor(MAX_CHECK_COST / cost)
    expect(check(Array.from({ length: most }, () => 1))).toBe(
      `${most + 1} values are too many to be checked against the output schema; it can be for ${most}`,
    )
    expect(onUncheckable).not.toHaveBeenCalled()
  })

  it('is none when its alternatives multiply what a check costs, and results are held to it all the same', () => {
    const alternatives = (count: number) => ({
      type: 'object',
      properties: {
        kind: { oneOf: Array.from({ length: count }, (_, kind) => ({ type: 'integer', const: kind })) },
      },
    })
    const few = contractOf(alternatives(20))
    expect(few.unsupported).toBeUndefined()
    const many = contractOf(alternatives(500))
    expect(many.unsupported).toBe('it has too many alternatives, names or allowed values')
    expect(many.schema).toMatchObject({ properties: { structuredContent: {} } })
    for (const { check } of [few, many]) {
      expect(check({ kind: 7 })).toBeUndefined()
      expect(check({ kind: 500 })).toBeDefined()
    }
  })
})

describe('an output schema beyond the subset of the host', () => {
  it('is not part of the tool definition, for a reason on one line', () => {
    const { schema, unsupported } = contractOf(MAP)
    expect(schema).toMatchObject({ properties: { structuredContent: {} } })
    expect(unsupported).toBe('unsupported JSON schema: schema.additionalProperties must be a boolean')
  })

  it('is what structured content is held to all the same', () => {
    const { check, onUncheckable } = contractOf(MAP)
    expect(check({ one: 1 })).toBeUndefined()
    expect(check({ one: 'two' })).toContain('#/one: Instance type "string" is invalid. Expected "number".')
    expect(onUncheckable).not.toHaveBeenCalled()
  })

  it('may refer to its own parts', () => {
    const node = {
      type: 'object',
      properties: { next: { $ref: '#/$defs/node' }, n: { type: 'integer' } },
      required: ['n'],
    }
    const { check } = contractOf({ $ref: '#/$defs/node', $defs: { node } })
    expect(check({ n: 1, next: { n: 2 } })).toBeUndefined()
    expect(check({ n: 1, next: {} })).toContain('#/next')
  })

  it('is read once, and not changed', () => {
    let reads = 0
    const counted = {
      get description() {
        reads++
        return 'a'
      },
    }
    const advertised = { ...MAP, $defs: { a: {}, counted } }
    const { check } = contractOf(advertised)
    check({ one: 1 })
    const before = reads
    check({ one: 2 })
    check({ one: 'three' })
    expect(before).toBeGreaterThan(0)
    expect(reads).toBe(before)
    expect(Object.getOwnPropertyNames(advertised)).toEqual(['type', 'additionalProperties', '$defs'])
    expect(Object.getOwnPropertyNames(advertised.$defs.a)).toEqual([])
  })

  it('knows nothing of another with the same $id', () => {
    const numbers = contractOf({ $id: 'https://one.example/x', ...MAP })
    const texts = contractOf({
      $id: 'https://one.example/x',
      type: 'object',
      additionalProperties: { type: 'string' },
    })
    expect(numbers.check({ a: 1 })).toBeUndefined()
    expect(texts.check({ a: 'b' })).toBeUndefined()
    expect(numbers.check({ a: 'b' })).toBeDefined()
    expect(texts.check({ a: 1 })).toBeDefined()
  })

  it('that hides characters is not shown, and enforced', () => {
    const { check, schema, unsupported } = contractOf({ type: 'object', required: ['a\u202e'] })
    expect(unsupported).toBe('it hides characters')
    expect(schema).toMatchObject({ properties: { structuredContent: {} } })
    expect(check({ 'a\u202e': 1 })).toBeUndefined()
    expect(check({})).toContain('does not have required property "a\\u{202e}"')
  })
})

describe('an output schema that cannot be checked', () => {
  it.each([
    [
      'refers to what is not in it',
      { $ref: 'https://remote.example/schema.json' },
      'Unresolved $ref "https://remote.example/schema.json"',
    ],
    [
      'is of a dialect that nobody speaks',
      { $schema: 'https://example.com/mine', ...MAP },
      'JSON Schema declares an unsupported dialect',
    ],
    [
      'has a pattern that is none',
      { type: 'object', patternProperties: { '(': {} } },
      'Invalid regular expression',
    ],
    [
      'would take for ever',
      { type: 'object', properties: { a: { pattern: '^(x+)+$' } } },
      'stopped after 250 ms',
    ],
    ['multiplies itself', bomb(), 'stopped after 250 ms'],
    ['is nothing but itself', { type: 'object', $ref: '#' }, 'call stack'],
  ])('is given up, and said so once, when it %s', (_, advertised, reason) => {
    const { check, onUncheckable } = contractOf(advertised)
    const value = { a: `${'x'.repeat(60)}!` }
    expect(check(value)).toBeUndefined()
    expect(check(value)).toBeUndefined()
    expect(onUncheckable).toHaveBeenCalledTimes(1)
    expect(onUncheckable).toHaveBeenCalledWith(expect.stringContaining(reason))
  })

  it('finds no names in a value or in itself that are those of prototypes', () => {
    const first = { a: { type: 'string', pattern: '^x' } }
    const required = contractOf({ type: 'object', minProperties: 0, required: ['constructor', '__proto__'] })
    expect(required.check({})).toContain('"constructor"')
    expect(required.check(JSON.parse('{"constructor": 1, "__proto__": 2}'))).toBeUndefined()
    const optional = contractOf({ type: 'object', properties: { constructor: { type: 'string' }, ...first } })
    expect(optional.check({ a: 'xy' })).toBeUndefined()
    expect(optional.check({ a: 5 })).toBeDefined()
    expect(optional.check({ a: 'xy', constructor: 5 })).toBeDefined()
    const closed = contractOf({ type: 'object', properties: first, additionalProperties: false })
    expect(closed.check({ a: 'xy', toString: 1 })).toBeDefined()
    expect([required, optional, closed].map((each) => each.onUncheckable.mock.calls)).toEqual([[], [], []])
  })

  it('is not met by a value that is too deep for the check, and stays in force', () => {
    const $defs = { n: { type: 'object', properties: { c: { $ref: '#/$defs/n' } }, allOf: [{}] } }
    const { check, onUncheckable } = contractOf({ type: 'object', $defs, $ref: '#/$defs/n' })
    let deep = {}
    for (let level = 0; level < 900; level++) deep = { c: deep }
    expect(check(deep)).toMatch(/nested too deeply|^$/)
    expect(check({ c: { c: 1 } })).toBeDefined()
    expect(check({ c: { c: {} } })).toBeUndefined()
    expect(onUncheckable).not.toHaveBeenCalled()
  })

  it('leaves the tool definition as it was', () => {
    const { check, schema } = contractOf({ type: 'object', properties: { a: { pattern: '^(x+)+$' } } })
    const before = structuredClone(schema)
    expect(check({ a: `${'x'.repeat(60)}!` })).toBeUndefined()
    expect(schema).toEqual(before)
  })

  it('still asks for structured content', () => {
    const { check } = contractOf({ $ref: 'https://remote.example/schema.json' })
    check({})
    expect(check(undefined)).toBe('there is no structured content, which the output schema asks for')
  })
})

it('a violation is short and safe to show, whatever the server called its fields', () => {
  const { check } = contractOf(MAP)
  const violation = check({ [`\u202e${'x'.repeat(10_000)}`]: 'no number' })
  expect(violation?.length).toBeLessThanOrEqual(500)
  expect(violation).not.toContain('\u202e')
})

/** A small schema that asks for the same thing 2 ** 40 times. */
function bomb(): Record<string, unknown> {
  const $defs: Record<string, unknown> = { d40: {} }
  for (let level = 0; level < 40; level++) {
    const next = { $ref: `#/$defs/d${level + 1}` }
    $defs[`d${level}`] = { allOf: [next, next] }
  }
  return { $ref: '#/$defs/d0', $defs }
}
