/**
 * What a tool promises of its structured content, and how a result is held to it.
 *
 * Invariants: whatever a schema says and whatever a result holds, a check ends in bounded time and fetches nothing;
 * schemas know nothing of each other, their `$id`s included.
 */
import { visibleExcerpt, visibleLine } from '@deepseek-ai/dsh-mcp-text'
import {
  assertSupportedJsonSchema,
  validateJsonSchemaValue,
  type JsonSchemaNode,
} from '@deepseek-ai/dsh-tools'
import { CfWorkerJsonSchemaValidator } from '@modelcontextprotocol/client/validators/cf-worker'
import { modelSchema } from './model-schema.ts'
import { withTimeLimit } from './time-limit.ts'

/** How long one check may take, in ms; an ordinary one takes less than one. */
const CHECK_LIMIT_MS = 250

/**
 * What the host's function may take for each value in a result instead, in ms, where that is more: large results
 * are no fault. It takes some 3 µs with an ordinary schema on an idle machine.
 */
const CHECK_LIMIT_MS_PER_NODE = 0.02

/**
 * Values in a result times characters of its schema, up to which the host's function cannot take long, whatever
 * they are. To watch the time would be most of the cost then.
 */
const MAX_UNWATCHED = 2_000_000

/** Violations that are put together, and the longest violation and reason that is passed on, in characters. */
const MAX_VIOLATIONS = 10
const MAX_VIOLATION = 500
const MAX_REASON = 300

/** What results of one tool are held to. */
export interface OutputContract {
  /**
   * The schema of the canonical value, for the registry and for programs. The advertised schema is taken out of it
   * when results cannot be held to that any more, because the registry makes each check again.
   */
  readonly schema: JsonSchemaNode
  /** Why the advertised schema is not part of {@link OutputContract.schema}, if it is not; one line. */
  readonly unsupported: string | undefined
  /**
   * Check the structured content of a successful result against the advertised schema.
   *
   * @returns the violation, or `undefined` when there is none, or it cannot be told.
   */
  check(structuredContent: unknown): string | undefined
}

/**
 * The contract that an advertised schema stands for. Within the host's subset it becomes part of the registry's
 * schema; beyond it, the registry takes any JSON, and the check is the contract's alone.
 *
 * @param advertised - the tool's `outputSchema` as listed, if it has one.
 * @param onUncheckable - told, once, why results cannot be held to the schema any more.
 */
export function outputContract(
  advertised: Record<string, unknown> | undefined,
  onUncheckable: (reason: string) => void,
): OutputContract {
  if (advertised === undefined) return OPEN
  const { schema, obstacle } = modelSchema(withoutMarks(advertised))
  const reason = obstacle === undefined ? unsupportedReason(schema) : `it ${obstacle}`
  const properties = { content: CONTENT, structuredContent: reason === undefined ? schema : {} }
  const giveUp = (why: string) => {
    properties.structuredContent = {}
    onUncheckable(why)
  }
  const find = untilUncheckable(reason === undefined ? hostCheck(schema) : sdkCheck(advertised), giveUp)
  return {
    schema: {
      type: 'object',
      properties,
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
    return undefined
  } catch (error) {
    return reasonOf(error)
  }
}

/** Finds the violation in a value, and throws when it cannot tell. */
type Check = (value: unknown) => string | undefined

/** A check that is given up when it throws. */
function untilUncheckable(check: Check, onUncheckable: (reason: string) => void): Check {
  let isUncheckable = false
  return (value) => {
    if (isUncheckable) return undefined
    try {
      return check(value)
    } catch (error) {
      isUncheckable = true
      onUncheckable(reasonOf(error))
      return undefined
    }
  }
}

/**
 * A check by the host's function. Values and alternatives of a schema multiply, so it is stopped when it takes more
 * time than ordinary ones do.
 */
function hostCheck(schema: JsonSchemaNode): Check {
  let length: number | undefined
  return (value) => {
    const find = () => {
      const violations = validateJsonSchemaValue(schema, value, 'structuredContent')
      return violations.length === 0 ? undefined : violations.slice(0, MAX_VIOLATIONS).join('; ')
    }
    length ??= JSON.stringify(schema).length
    const nodes = countNodes(value)
    if (nodes * length <= MAX_UNWATCHED) return find()
    return withTimeLimit(Math.max(CHECK_LIMIT_MS, Math.ceil(nodes * CHECK_LIMIT_MS_PER_NODE)), find)
  }
}

/** The values in a value, itself included. It is not nested deeper than a result may be. */
function countNodes(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1
  let nodes = 1
  for (const item of Object.values(value)) nodes += countNodes(item)
  return nodes
}

/**
 * A check by the SDK's interpreting validator, which neither compiles a schema to code nor follows a reference out
 * of it. A hostile pattern or a schema that multiplies itself would keep it busy for ever, so it is stopped.
 */
function sdkCheck(advertised: Record<string, unknown>): Check {
  let validate: ReturnType<CfWorkerJsonSchemaValidator['getValidator']> | undefined
  return (value) =>
    withTimeLimit(CHECK_LIMIT_MS, () => {
      // It takes notes in the schema, which is not ours to change.
      validate ??= new CfWorkerJsonSchemaValidator().getValidator(structuredClone(advertised))
      return validate(value).errorMessage
    })
}

function reasonOf(error: unknown): string {
  return visibleLine((error as Error).message, MAX_REASON)
}
