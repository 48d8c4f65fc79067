import type { JsonSchemaNode } from '@deepseek-ai/dsh-tools'
import { describe, expect, it } from 'vitest'
import { costPerValue, countValues } from '../../src/tools/check-cost.ts'

const TEXT: JsonSchemaNode = { type: 'string' }

function record(names: number, schema = TEXT): JsonSchemaNode {
  const properties = Object.fromEntries(Array.from({ length: names }, (_, index) => [`name${index}`, schema]))
  return { type: 'object', properties, required: Object.keys(properties) }
}

function nested(depth: number): JsonSchemaNode {
  return depth === 0 ? TEXT : { type: 'object', properties: { next: nested(depth - 1) } }
}

function union(branches: number, branch: JsonSchemaNode): JsonSchemaNode {
  return { oneOf: Array.from({ length: branches }, () => branch) }
}

describe('the cost of a check for one value', () => {
  it.each<[string, JsonSchemaNode, number, number]>([
    ['of an open schema is one visit', {}, 1, 2],
    ['of ordinary rows is small', { type: 'array', items: record(8) }, 3, 10],
    ['of a large record with records in it stays small', record(30, record(30)), 10, 20],
    ['grows with each level', nested(50), 51, 55],
    ['grows with each alternative', union(100, TEXT), 101, 140],
    ['grows with the alternatives of alternatives', union(10, union(10, TEXT)), 101, 150],
    ['grows with what alternatives have below them', union(10, nested(9)), 101, 125],
    ['grows with the values that are allowed', { ...TEXT, enum: ['x'.repeat(6400)] }, 100, 105],
    ['grows with the one value that is allowed', { ...TEXT, const: 'x'.repeat(6400) }, 100, 105],
    ['grows with the names of an object', record(1000), 250, 400],
    ['does not grow with names that no one value has', record(2, record(2, record(2))), 4, 6],
  ])('%s', (_, schema, least, most) => {
    const cost = costPerValue(schema)
    expect(cost).toBeGreaterThanOrEqual(least)
    expect(cost).toBeLessThanOrEqual(most)
  })
})

it('counts every value once, lists and objects included', () => {
  expect([1, null, [], [1, { a: 2, b: [3] }]].map(countValues)).toEqual([1, 1, 1, 6])
})
