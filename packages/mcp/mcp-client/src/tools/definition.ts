/**
 * Adapts one upstream MCP tool to the tool registry: the same values, errors and projection for every tool,
 * whether it comes over a connection of this plugin or from another provider.
 *
 * Invariants: one canonical value, the protocol's result, complete; the model's view is made from it and never
 * the other way round; an `isError` result is a failed call.
 */
import { visibleText } from '@deepseek-ai/dsh-mcp-text'
import type { Context } from '@deepseek-ai/cordis'
import type { ToolDefinition, ToolRunContext } from '@deepseek-ai/dsh-tools'
import { isSpecType } from '@modelcontextprotocol/client'
import { McpCallError } from './errors.ts'
import { modelSchema } from './model-schema.ts'
import { canonicalOutputSchema } from './output-schema.ts'
import { canonicalResult, projectText, type McpResult } from './projection.ts'

/** One upstream tool, and how to call it. */
export interface McpToolOptions {
  /** The registered, model-visible name; see `publicToolName`. */
  readonly name: string
  /** The tool's own name, for messages. */
  readonly rawName: string
  /** What the tool is for, as its server says. Default empty. */
  readonly description?: string | undefined
  /** JSON Schema of the arguments, shown to the model. */
  readonly inputSchema: Record<string, unknown>
  /** JSON Schema of `structuredContent`. */
  readonly outputSchema?: Record<string, unknown> | undefined
  /** The tool changes nothing, so its calls may overlap with others. Default `false`. */
  readonly isReadOnly?: boolean | undefined
  /**
   * Run one call.
   *
   * @param args - the arguments, always a JSON object.
   * @param exec - the unchanged execution: agent, cancellation, call identity.
   * @returns the raw MCP `tools/call` result.
   */
  call(args: Record<string, unknown>, exec: ToolRunContext): Promise<unknown>
}

function asArguments(args: unknown): Record<string, unknown> {
  const isObject = typeof args === 'object' && args !== null && !Array.isArray(args)
  return isObject ? (args as Record<string, unknown>) : {}
}

/**
 * Make the registry's definition of an upstream MCP tool. Registration, deadlines and lifetime are the
 * caller's.
 *
 * @param ctx - the caller's context.
 */
export function createMcpToolDefinition(ctx: Context, options: McpToolOptions): ToolDefinition {
  const { name, rawName } = options
  const input = modelSchema(options.inputSchema)
  const output = canonicalOutputSchema(options.outputSchema && modelSchema(options.outputSchema).schema)
  if (input.isOpened) ctx.logger.warn('the input schema of %s hides characters, so the model gets an open one', name)
  if (output.unsupported !== undefined) {
    ctx.logger.debug('the output schema of %s is not enforced by the registry: %s', name, output.unsupported)
  }
  return {
    name,
    description: visibleText(options.description ?? ''),
    parameters: input.schema,
    output: {
      schema: output.schema,
      render: (_args, value) => [{ type: 'text', text: visibleText(projectText(value as unknown as McpResult)) }],
    },
    isConcurrencySafe: () => options.isReadOnly === true,
    async execute(args, exec) {
      const raw = await options.call(asArguments(args), exec)
      if (!isSpecType.CallToolResult(raw)) {
        throw new McpCallError(`MCP tool "${visibleText(rawName)}" returned something that is not a tool result.`, 'MCP_PROTOCOL_ERROR')
      }
      const result = canonicalResult(raw)
      if (raw.isError === true) throw new McpCallError(visibleText(projectText(result)), 'MCP_TOOL_ERROR')
      return result
    },
  }
}
