/**
 * A server's JSON Schema as the model may see it.
 *
 * Invariant: what a schema says in words is shown with hidden characters escaped, and cut where it is very long;
 * what goes on the wire (names, `enum`, `const`, patterns) is never altered, but for the number `-0`, which is
 * `0`. A schema that hides characters in those cannot be shown faithfully either way, and one that is nested too
 * deeply, too large or not JSON cannot be shown at all, so the model gets an open schema instead: the host has
 * nothing to offer to any model while it holds one schema that is not JSON.
 */
import { visibleExcerpt, visibleText } from '@deepseek-ai/dsh-mcp-text'
import { validateJsonSchemaValue } from '@deepseek-ai/dsh-tools'

/** Deepest nesting of a tool's schemas; the SDK and the host walk them recursively. */
export const MAX_SCHEMA_DEPTH = 256

/** Longest description of a tool, or title or description within a schema, in UTF-16 units; a longer one is cut. */
export const MAX_DESCRIPTION_LENGTH = 16_384

/** Largest schema, as JSON in UTF-16 units, about; the model gets an open one instead. */
export const MAX_SCHEMA_LENGTH = 262_144

/** What JSON takes for a name or a value beside its own characters: quotes or brackets, and a comma or a colon. */
const PUNCTUATION = 3

type Json = Record<string, unknown>

/** Keywords whose text is for the reader only. */
const PROSE = new Set(['title', 'description', '$comment'])
/** Keywords that hold schemas by name: what looks like a keyword below them is a name. */
const NAMED_SCHEMAS = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'])
/** Keywords that hold data: what looks like a keyword below them is data. */
const DATA = new Set(['enum', 'const', 'default', 'examples', 'required', 'dependentRequired'])

/** A schema for the model. */
export interface ModelSchema {
  readonly schema: Json
  /** Why an open one stands in its place, as the end of a sentence about it; `undefined` when none does. */
  readonly obstacle: string | undefined
}

class Unshowable extends Error {}

/** The text for the model: hidden characters escaped, and cut to {@link MAX_DESCRIPTION_LENGTH}. */
export function modelText(text: string): string {
  return text.length > MAX_DESCRIPTION_LENGTH
    ? visibleExcerpt(text, MAX_DESCRIPTION_LENGTH)
    : visibleText(text)
}

/**
 * The schema to show to the model; the same object when nothing in it had to change.
 *
 * @param schema - an `inputSchema` or `outputSchema` as listed.
 */
export function modelSchema(schema: Json): ModelSchema {
  try {
    const shown = new SchemaView().show(schema, 1) as Json
    // An open schema takes whatever the host takes for JSON.
    if (validateJsonSchemaValue({}, shown).length > 0) throw new Unshowable('is not JSON')
    return { schema: shown, obstacle: undefined }
  } catch (error) {
    if (!(error instanceof Unshowable)) throw error
    return { schema: { type: 'object' }, obstacle: error.message }
  }
}

/** One walk over a schema. */
class SchemaView {
  #length = 0

  show(node: unknown, depth: number): unknown {
    if (depth > MAX_SCHEMA_DEPTH) throw new Unshowable(`is nested more than ${MAX_SCHEMA_DEPTH} levels deep`)
    if (Array.isArray(node)) return this.#mapArray(node, (item) => this.show(item, depth + 1))
    if (typeof node !== 'object' || node === null) return this.#checkWire(node)
    return this.#mapObject(node as Json, (key, value) => {
      if (PROSE.has(key) && typeof value === 'string') return this.#count(modelText(value))
      if (DATA.has(key)) return this.#showData(value, depth + 1)
      if (NAMED_SCHEMAS.has(key) && typeof value === 'object' && value !== null) {
        return this.#mapObject(value as Json, (_, schema) => this.show(schema, depth + 2))
      }
      return this.show(value, depth + 1)
    })
  }

  #showData(value: unknown, depth: number): unknown {
    if (depth > MAX_SCHEMA_DEPTH) return this.show(value, depth)
    if (Array.isArray(value)) return this.#mapArray(value, (item) => this.#showData(item, depth + 1))
    if (typeof value !== 'object' || value === null) return this.#checkWire(value)
    return this.#mapObject(value as Json, (_, item) => this.#showData(item, depth + 1))
  }

  #checkWire(value: unknown): unknown {
    const text = this.#count(String(value))
    if (typeof value === 'string' && visibleText(text) !== text) throw new Unshowable('hides characters')
    return Object.is(value, -0) ? 0 : value
  }

  #count(text: string): string {
    this.#length += text.length + PUNCTUATION
    if (this.#length > MAX_SCHEMA_LENGTH)
      throw new Unshowable(`takes more than ${MAX_SCHEMA_LENGTH} characters`)
    return text
  }

  #mapArray(items: unknown[], map: (item: unknown) => unknown): unknown[] {
    this.#count('')
    const mapped = items.map(map)
    return mapped.every((item, index) => Object.is(item, items[index])) ? items : mapped
  }

  #mapObject(object: Json, map: (key: string, value: unknown) => unknown): Json {
    this.#count('')
    let isChanged = false
    const entries = Object.entries(object).map(([key, value]): [string, unknown] => {
      this.#checkWire(key)
      const mapped = map(key, value)
      isChanged ||= !Object.is(mapped, value)
      return [key, mapped]
    })
    return isChanged ? Object.fromEntries(entries) : object
  }
}
