/**
 * A server's JSON Schema as the model may see it.
 *
 * Invariant: what a schema says in words is shown with hidden characters escaped; what goes on the wire (names,
 * `enum`, `const`, patterns) is never altered. A schema that hides characters in those cannot be shown
 * faithfully either way, so the model gets an open schema instead.
 */
import { visibleText } from '@deepseek-ai/dsh-mcp-text'

type Json = Record<string, unknown>

/** Keywords whose text is for the reader only. */
const PROSE = new Set(['title', 'description', '$comment'])
/** Keywords that hold schemas by name: what looks like a keyword below them is a name. */
const NAMED_SCHEMAS = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'])
/** Keywords that hold data: what looks like a keyword below them is data. */
const DATA = new Set(['enum', 'const', 'default', 'examples', 'required', 'dependentRequired'])

/** A schema for the model, and whether it had to be opened. */
export interface ModelSchema {
  readonly schema: Json
  readonly isOpened: boolean
}

class HiddenWireText extends Error {}

/**
 * The schema to show to the model; the same object when nothing in it had to change.
 *
 * @param schema - an `inputSchema` or `outputSchema` as listed.
 */
export function modelSchema(schema: Json): ModelSchema {
  try {
    return { schema: showSchema(schema) as Json, isOpened: false }
  } catch (error) {
    if (!(error instanceof HiddenWireText || error instanceof RangeError)) throw error
    return { schema: { type: 'object' }, isOpened: true }
  }
}

function showSchema(node: unknown): unknown {
  if (Array.isArray(node)) return mapArray(node, showSchema)
  if (typeof node !== 'object' || node === null) return checkWire(node)
  return mapObject(node as Json, (key, value) => {
    if (PROSE.has(key) && typeof value === 'string') return visibleText(value)
    if (DATA.has(key)) return checkData(value)
    if (NAMED_SCHEMAS.has(key) && typeof value === 'object' && value !== null) {
      return mapObject(value as Json, (_, schema) => showSchema(schema))
    }
    return showSchema(value)
  })
}

function checkData(value: unknown): unknown {
  if (Array.isArray(value)) value.forEach(checkData)
  else if (typeof value === 'object' && value !== null) mapObject(value as Json, (_, item) => checkData(item))
  else checkWire(value)
  return value
}

function checkWire<Value>(value: Value): Value {
  if (typeof value === 'string' && visibleText(value) !== value) throw new HiddenWireText()
  return value
}

function mapArray(items: unknown[], map: (item: unknown) => unknown): unknown[] {
  const mapped = items.map(map)
  return mapped.every((item, index) => item === items[index]) ? items : mapped
}

function mapObject(object: Json, map: (key: string, value: unknown) => unknown): Json {
  let isChanged = false
  const entries = Object.entries(object).map(([key, value]): [string, unknown] => {
    const mapped = map(checkWire(key), value)
    isChanged ||= mapped !== value
    return [key, mapped]
  })
  return isChanged ? Object.fromEntries(entries) : object
}
