/**
 * What it costs to hold a value to a schema with the host's function, told from the two of them alone.
 *
 * Invariant: no clock is asked. Whether a schema becomes part of a tool definition, which the model sees, and
 * whether a result is small enough for it is the same on every machine and at every call.
 */
import type { JsonSchemaNode } from '@deepseek-ai/dsh-tools'

/** Characters of names, allowed values and the like that cost as much as one visit of a value. */
const CHARACTERS_PER_VISIT = 64

/**
 * A bound of the work for one value in a result, in visits of a value by one schema; a visit takes about 1 µs.
 * Every level of the schema goes through everything below it once more, and `oneOf` tries all of its branches.
 *
 * @param schema - one within the host's subset.
 */
export function costPerValue(schema: JsonSchemaNode): number {
  return Math.ceil(visits(schema) + characters(schema) / CHARACTERS_PER_VISIT)
}

/** The values in a value, itself included. It is not nested deeper than a result may be. */
export function countValues(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1
  let count = 1
  for (const item of Object.values(value)) count += countValues(item)
  return count
}

/** Visits of the value that is visited most. */
function visits(schema: JsonSchemaNode): number {
  if (schema.oneOf !== undefined) return 1 + sum(schema.oneOf.map(visits))
  return 1 + greatest(below(schema).map(visits))
}

/** Characters that are looked through for the value that has most of them. */
function characters(schema: JsonSchemaNode): number {
  if (schema.oneOf !== undefined) return sum(schema.oneOf.map(characters))
  const { properties = {}, required, enum: allowed, const: only } = schema
  const own = JSON.stringify([Object.keys(properties), required, allowed, only]).length
  return greatest([own, ...below(schema).map(characters)])
}

/** The schemas of what is in a value of the schema; each value in it is held to one of them. */
function below({ properties = {}, items }: JsonSchemaNode): JsonSchemaNode[] {
  const schemas = Object.values(properties)
  return items === undefined ? schemas : [...schemas, items]
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

function greatest(numbers: readonly number[]): number {
  return numbers.reduce((most, number) => Math.max(most, number), 0)
}
