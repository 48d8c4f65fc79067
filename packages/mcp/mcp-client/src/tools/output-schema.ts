/** The output contract that a tool's canonical value is held to in the registry. */
import { assertSupportedJsonSchema, type JsonSchemaNode } from '@deepseek-ai/dsh-tools'

/** A tool's output schema, and why the advertised one is not part of it, if it is not. */
export interface OutputSchema {
  readonly schema: JsonSchemaNode
  /** Why the advertised schema fell back to unconstrained JSON; one line. */
  readonly unsupported?: string
}

/**
 * The schema of the canonical value `{ content, structuredContent? }`. An advertised schema within the host's
 * subset is enforced on `structuredContent`; one outside of it is left to the SDK, which checks every advertised
 * schema in full, and the registry takes any JSON.
 *
 * @param advertised - the tool's `outputSchema` as listed, if it has one.
 */
export function canonicalOutputSchema(advertised: unknown): OutputSchema {
  const content: JsonSchemaNode = { type: 'array', description: 'MCP content blocks, complete' }
  const build = (structuredContent: JsonSchemaNode): JsonSchemaNode => ({
    type: 'object',
    properties: { content, structuredContent },
    required: advertised === undefined ? ['content'] : ['content', 'structuredContent'],
    additionalProperties: false,
  })
  if (advertised === undefined) return { schema: build({}) }
  try {
    assertSupportedJsonSchema(advertised)
    return { schema: build(advertised) }
  } catch (error) {
    return { schema: build({}), unsupported: String(error instanceof Error ? error.message : error) }
  }
}
