/**
 * Adapts one upstream MCP tool to the tool registry: the same values, errors and projection for every tool,
 * whether it comes over a connection of this plugin or from another provider.
 *
 * Invariants: one canonical value, the protocol's result, complete; the model's view is made from it and never
 * the other way round; an `isError` result is a failed call, and nothing of it is saved; what a policy of the host
 * makes of a result stands.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Context } from '@deepseek-ai/cordis'
import type { ContentBlock } from '@deepseek-ai/dsh-llm'
import { visibleLine } from '@deepseek-ai/dsh-mcp-text'
import type { ToolDefinition, ToolRunContext } from '@deepseek-ai/dsh-tools'
import { McpCallError } from './errors.ts'
import { admitImages } from './images.ts'
import { modelSchema, modelText } from './model-schema.ts'
import { outputContract, type OutputContract } from './output-schema.ts'
import { imagesOf, isBrief, project, projectNow, type Projection, type Silence } from './projection.ts'
import { checkContent, InvalidResultError, readResult, type McpResult } from './result.ts'

/** One upstream tool, and how to call it. */
export interface McpToolOptions {
  /** The name in the registry, which the model sees; `publicToolName` makes one that is safe. */
  readonly name: string
  /** The tool's own name, for messages to the model. Default: {@link McpToolOptions.name}. */
  readonly rawName?: string | undefined
  /** What the tool is for, as its provider says; shown escaped and cut to 16,384 characters. Default empty. */
  readonly description?: string | undefined
  /** JSON Schema of the arguments. The model gets it as it is, hidden characters in its words excepted. */
  readonly inputSchema: Record<string, unknown>
  /**
   * JSON Schema of `structuredContent`, any dialect. A successful result that does not match it, or has no
   * structured content, is a failed call. Default: structured content is optional, and any JSON.
   */
  readonly outputSchema?: Record<string, unknown> | undefined
  /**
   * Told what is wrong with the tool's schemas: a format with `%s` and what to put there, which are the provider's
   * own words as they are. Default: the logger of the context, with the words on one line and cut to 300 characters.
   */
  readonly report?: ((level: 'warn' | 'debug', format: string, ...words: string[]) => void) | undefined
  /** The tool changes nothing, so that its calls may overlap with others. Default `false`. */
  readonly isReadOnly?: boolean | undefined
  /**
   * Run one call. Deadlines are the callback's own; cancellation is `exec.signal`.
   *
   * @param args - the arguments, always a JSON object: what the model sent instead of one is taken for `{}`.
   * @param exec - the registry's execution, unchanged: agent, cancellation, call identity.
   * @returns the raw MCP `tools/call` result: `{ content, structuredContent?, isError? }` of any size.
   * @throws anything: the call fails with it. A {@link McpCallError} carries a code.
   */
  call(args: Record<string, unknown>, exec: ToolRunContext): Promise<unknown>
}

/** Longest words of a provider in the log, in characters. */
export const MAX_WORDS_LENGTH = 300

/** A call's value and its projection, until the registry asks for them; a brief value needs none beforehand. */
interface Settled extends Projection {
  readonly value: McpResult
}

// The registry hands over the arguments when it renders, and the execution when it finalizes. A definition may be
// replaced between the two, so the definitions share what they remember.
const settledByArguments = new WeakMap<object, Settled>()
const settledByExecution = new WeakMap<object, Settled>()
/** What was rendered for a value, which is what a policy saw. */
const rendered = new WeakMap<object, ContentBlock[]>()

const SILENT_FAILURE: Silence = {
  empty: 'The tool failed and did not say why.',
  notForAssistant: 'The tool failed, and what it reported is for the user only.',
}

/**
 * Make the registry's definition of an upstream MCP tool, for `ctx.tools.register`. No connection is involved: the
 * callback is all that is asked of the provider. Registration, deadlines and lifetime are the caller's.
 *
 * Every result is checked, becomes the canonical value `{ content, structuredContent? }` for programs, and is
 * projected for the model: text escaped and joined, images into the conversation where the host can show them to
 * the model, everything else described.
 *
 * @param ctx - the caller's context. The optional services `attachments` and `llm` are looked up in it at each call.
 * @param options - the tool.
 */
export function createMcpToolDefinition(ctx: Context, options: McpToolOptions): ToolDefinition {
  const { name, rawName = name } = options
  const report =
    options.report ??
    ((level, format, ...words) =>
      ctx.logger[level](format, ...words.map((word) => visibleLine(word, MAX_WORDS_LENGTH))))
  const input = modelSchema(options.inputSchema)
  const contract = outputContract(options.outputSchema, (reason) =>
    report(
      'warn',
      'results of the tool "%s" are not held to its output schema any more: %s',
      rawName,
      reason,
    ),
  )
  if (input.obstacle !== undefined) {
    const format = `the input schema of the tool "%s" ${input.obstacle}, so the model gets an open one`
    report('warn', format, rawName)
  }
  if (contract.unsupported !== undefined) {
    const format = 'the output schema of the tool "%s" is not part of its definition: %s'
    report('debug', format, rawName, contract.unsupported)
  }
  return {
    name,
    description: modelText(options.description ?? ''),
    parameters: input.schema,
    isConcurrencySafe: () => options.isReadOnly === true,
    async execute(args, exec) {
      const isObject = isKey(args) && !Array.isArray(args)
      const raw = await options.call(isObject ? (args as Record<string, unknown>) : {}, exec)
      const value = await readSuccess(rawName, contract, raw)
      if (isBrief(value)) return value
      const projection = await project(value, await admitImages(ctx, exec, imagesOf(value)))
      const settled = { value, ...projection }
      settledByExecution.set(exec, settled)
      if (isKey(args)) settledByArguments.set(args, settled)
      return value
    },
    output: {
      schema: contract.schema,
      render(args, value) {
        const result = value as unknown as McpResult
        // A policy may have put another value in its place.
        checkContent(result.content)
        if (isBrief(result)) return projectNow(result)
        const settled = isKey(args) ? settledByArguments.get(args) : undefined
        const isIt = settled !== undefined && isDeepStrictEqual(settled.value, value)
        const content = isIt ? settled.text : projectNow(result)
        rendered.set(value as object, content)
        return content
      },
    },
    finalizeContent(exec, result) {
      const settled = settledByExecution.get(exec)
      if (settled?.native === undefined || result.isError) return undefined
      const isUntouched =
        isDeepStrictEqual(settled.value, result.value) &&
        isDeepStrictEqual(rendered.get(result.value as object), result.content)
      return isUntouched ? settled.native : undefined
    },
  }
}

/**
 * The canonical value of a raw result.
 *
 * @throws {McpCallError} when it is none, or reports an error, or breaks the tool's contract.
 */
async function readSuccess(rawName: string, contract: OutputContract, raw: unknown): Promise<McpResult> {
  const invalid = (violation: string, cause?: unknown) => {
    const what = `MCP tool ${JSON.stringify(visibleLine(rawName, 100))}`
    return new McpCallError(`${what} returned an invalid result: ${violation}.`, 'MCP_INVALID_RESULT', {
      cause,
    })
  }
  let read: Awaited<ReturnType<typeof readResult>>
  try {
    read = await readResult(raw)
  } catch (error) {
    throw error instanceof InvalidResultError ? invalid(error.message, error) : error
  }
  const { result, isError } = read
  if (isError) throw new McpCallError(await describeFailure(result), 'MCP_TOOL_ERROR')
  const violation = contract.check(result.structuredContent)
  if (violation !== undefined) throw invalid(violation)
  return result
}

async function describeFailure(result: McpResult): Promise<string> {
  const refused = imagesOf(result).map(() => ({ refusal: 'the tool reported an error' }))
  const {
    text: [block],
  } = await project(result, refused, SILENT_FAILURE)
  return block.text
}

/** Whether a value can be the key of a weak map. */
function isKey(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
