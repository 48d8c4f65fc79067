/**
 * What a tool promises of its structured content, and how a result is held to it.
 *
 * Invariants: whatever a schema says and whatever a result holds, a check ends in bounded time and fetches nothing;
 * schemas know nothing of each other, their `$id`s included.
 */
import { visibleExcerpt } from '@deepseek-ai/dsh-mcp-text'
import {
  assertSupportedJsonSchema,
  validateJsonSchemaValue,
  type JsonSchemaNode,
} from '@deepseek-ai/dsh-tools'
import { CfWorkerJsonSchemaValidator } from '@modelcontextprotocol/client/validators/cf-worker'
import { costPerValue, countValues } from './check-cost.ts'
import { modelSchema } from './model-schema.ts'
import { withTimeLimit } from './time-limit.ts'

/** How long a check by the SDK's validator may take, in ms; an ordinary one takes less than one. */
const CHECK_LIMIT_MS = 250

/** A value of that depth can be checked, unless it is the schema that has no end. */
const MAX_CHECKED_DEPTH = 100

/** Highest {@link costPerValue} of a schema in a tool definition; an ordinary one costs less than 30. */
const MAX_COST_PER_VALUE = 100

/**
 * Most that a check by the host's function may cost, in visits of a value: seconds, for a million values and an
 * ordinary schema. The registry makes the same check once more, and neither can be stopped.
 */
export const MAX_CHECK_COST = 10_000_000

/** Violations that are put together, and how much of them is passed on, in characters. */
const MAX_VIOLATIONS = 10
const MAX_VIOLATION = 500

/** What results of one tool are held to. */
export interface OutputContract {
  /** The schema of the canonical value, for the registry and for programs. It never changes. */
  readonly schema: JsonSchemaNode
  /**
   * Why the advertised schema is not part of {@link OutputContract.schema}, if it is not. With the server's own
   * words in it, as they are.
   */
  readonly unsupported: string | undefined
  /**
   * Check the structured content of a successful result against the advertised schema.
   *
   * @returns the violation, or `undefined` when there is none, or when the schema cannot be checked.
   */
  check(structuredContent: unknown): string | undefined
}

/**
 * The contract that an advertised schema stands for. Within the host's subset, and where a check costs little, it
 * becomes part of the registry's schema, which checks once more; else the registry takes any JSON, and the check is
 * the contract's alone.
 *
 * @param advertised - the tool's `outputSchema` as listed, if it has one.
 * @param onUncheckable - told, once, why results cannot be held to the schema any more; in words as they are, too.
 */
export function outputContract(
  advertised: Record<string, unknown> | undefined,
  onUncheckable: (reason: string) => void,
): OutputContract {
  if (advertised === undefined) return OPEN
  const { schema, obstacle } = modelSchema(withoutMarks(advertised))
  const reason = obstacle === undefined ? unsupportedReason(schema) : `it ${obstacle}`
  const find = reason === undefined ? hostCheck(schema) : sdkCheck(advertised, onUncheckable)
  return {
    schema: {
      type: 'object',
      properties: { content: CONTENT, structuredContent: reason === undefined ? schema : {} },
      required: ['content', 'structuredContent'],
      additionalProperties: false,
    },
    unsupported: reason,
    check(structuredContent) {
      if (structuredContent === undefined)
        return 'there is no structured content, which the output schema asks for'
      const violation = find(structuredContent)
      return violation === undefined ? undefined : visibleExcerpt(violation, MAX_VIOLATION)
    },
  }
}

/**
 * The schema without what generators put at the root of every schema, which constrains nothing and would put it
 * outside of the host's subset.
 */
function withoutMarks(schema: Record<string, unknown>): Record<string, unknown> {
  const isMark = (key: string) =>
    key === '$schema' || key === '$id' || key === '$comment' || key.startsWith('x-')
  return Object.fromEntries(Object.entries(schema).filter(([key]) => !isMark(key)))
}

/**
 * The content of every result. One object for all tools: a server may list thousands. The blocks were checked when
 * the result was read; the host would go through each of them again for every level that this named.
 */
const CONTENT: JsonSchemaNode = {
  type: 'array',
  description: 'MCP content blocks: { type: "text", text }, { type: "image", data, mimeType }, …',
}

/** The contract of a tool without an output schema: structured content is optional, and any JSON. */
const OPEN: OutputContract = {
  schema: {
    type: 'object',
    properties: { content: CONTENT, structuredContent: {} },
    required: ['content'],
    additionalProperties: false,
  },
  unsupported: undefined,
  check: () => undefined,
}

function unsupportedReason(schema: unknown): string | undefined {
  try {
    assertSupportedJsonSchema(schema)
  } catch (error) {
    return (error as Error).message
  }
  const isCostly = costPerValue(schema) > MAX_COST_PER_VALUE
  return isCostly ? 'it has too many alternatives, names or allowed values' : undefined
}

/** Finds the violation in a value. */
type Check = (value: unknown) => string | undefined

/** A check by the host's function, of values that it is not too long busy with. */
function hostCheck(schema: JsonSchemaNode): Check {
  let maxValues: number | undefined
  return (value) => {
    maxValues ??= Math.floor(MAX_CHECK_COST / costPerValue(schema))
    const count = countValues(value)
    if (count > maxValues)
      return `${count} values are too many to be checked against the output schema; it can be for ${maxValues}`
    const violations = validateJsonSchemaValue(schema, value, 'structuredContent')
    return violations.length === 0 ? undefined : violations.slice(0, MAX_VIOLATIONS).join('; ')
  }
}

/**
 * A check by the SDK's interpreting validator, which neither compiles a schema to code nor follows a reference out
 * of it. A hostile pattern or a schema that multiplies itself would keep it busy for ever, so it is stopped, and
 * given up. What is only too deep for it is a violation.
 */
function sdkCheck(advertised: Record<string, unknown>, onUncheckable: (reason: string) => void): Check {
  let validate: ReturnType<CfWorkerJsonSchemaValidator['getValidator']> | undefined
  let isUncheckable = false
  return (value) => {
    if (isUncheckable) return undefined
    try {
      return withTimeLimit(CHECK_LIMIT_MS, () => {
        // It takes notes in the schema, which is not ours to change.
        validate ??= new CfWorkerJsonSchemaValidator().getValidator(
          bare(advertised) as Record<string, unknown>,
        )
        return validate(bare(value)).errorMessage
      })
    } catch (error) {
      if (error instanceof RangeError && depthOf(value) > MAX_CHECKED_DEPTH)
        return 'it is nested too deeply to be checked against the output schema'
      isUncheckable = true
      onUncheckable((error as Error).message)
      return undefined
    }
  }
}

/** A copy in which each object has the names that it has, and none of a prototype: the validator would find those, too. */
function bare(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(bare)
  if (typeof value !== 'object' || value === null) return value
  const copy = Object.create(null) as Record<string, unknown>
  for (const [name, field] of Object.entries(value)) copy[name] = bare(field)
  return copy
}

function depthOf(value: unknown): number {
  let depth = 0
  for (let level = [value]; level.length > 0; depth++)
    level = level.flatMap((each) => (typeof each === 'object' && each !== null ? Object.values(each) : []))
  return depth
}
