/**
 * The three shared tools. They hold no connection: each call finds its provider among the servers that the
 * calling agent can see at that moment.
 */
import type { ScopeKey } from '@deepseek-ai/dsh-scope'
import { ToolArgsError, validateJsonSchemaValue } from '@deepseek-ai/dsh-tools'
import type { ObjectJsonSchema, ToolDefinition } from '@deepseek-ai/dsh-tools'
import { visibleExcerpt, visibleLine } from '@deepseek-ai/dsh-mcp-text'
import { resultText, showPieces } from './projection.ts'
import type { ShownPiece } from './projection.ts'
import type { McpResourceProvider, McpResourceRequest } from './types.ts'

/** The providers that a scope sees, by server name, in any order. */
export type VisibleProviders = (scope: ScopeKey | undefined) => ReadonlyMap<string, McpResourceProvider>

/** Names in their JSON form, sorted by code unit, so that the text is the same on every machine. */
export function nameList(names: Iterable<string>): string {
  return JSON.stringify(Array.from(names).toSorted())
}

/** What a thrown value says. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Builds the definitions once; one set serves every scope. */
export function createResourceTools(visible: VisibleProviders): readonly ToolDefinition[] {
  return [
    defineResourceTool<{ cursor?: string }>(visible, {
      name: 'list_mcp_resources',
      description:
        'List what a connected MCP server offers to read: { resources: [{ uri, name, title?, description?, ' +
        'mimeType?, size? }], nextCursor? }.',
      parameters: { cursor: CURSOR },
      request: ({ cursor }) => ({ method: 'resources/list', ...(cursor !== undefined && { cursor }) }),
    }),
    defineResourceTool<{ cursor?: string }>(visible, {
      name: 'list_mcp_resource_templates',
      description:
        'List the URI templates (RFC 6570) of a connected MCP server: { resourceTemplates: [{ uriTemplate, name, ' +
        'title?, description?, mimeType? }], nextCursor? }. A filled-in template is a URI for read_mcp_resource.',
      parameters: { cursor: CURSOR },
      request: ({ cursor }) => ({
        method: 'resources/templates/list',
        ...(cursor !== undefined && { cursor }),
      }),
    }),
    defineResourceTool<{ uri: string }>(visible, {
      name: 'read_mcp_resource',
      description:
        'Read a resource of a connected MCP server: { contents: [{ uri, mimeType?, text or blob }] }. Text is shown ' +
        'as it is; binary data (blob, base64) is shown by its type and size only.',
      parameters: {
        uri: {
          type: 'string',
          description: 'URI of the resource, from a list or from a filled-in template.',
        },
      },
      required: ['uri'],
      request: ({ uri }) => ({ method: 'resources/read', uri }),
    }),
  ]
}

const CURSOR = {
  type: 'string',
  description: 'Exactly one page: the nextCursor of the page before. Leave out to get everything.',
} as const

interface ResourceTool<Args> {
  name: string
  description: string
  /** Parameters besides `server`. */
  parameters: ObjectJsonSchema['properties']
  /** The required ones among them. */
  required?: string[]
  request(args: Args): McpResourceRequest
}

function defineResourceTool<Args>(visible: VisibleProviders, tool: ResourceTool<Args>): ToolDefinition {
  const parameters: ObjectJsonSchema = {
    type: 'object',
    properties: {
      server: { type: 'string', description: 'Name of the MCP server.' },
      ...tool.parameters,
    },
    required: ['server', ...(tool.required ?? [])],
  }
  /** What was made ahead of `render`, by the arguments object that is unique to a call. */
  const ahead = new WeakMap<object, readonly ShownPiece[]>()

  return {
    name: tool.name,
    description: tool.description,
    parameters: { ...parameters },
    output: {
      schema: {},
      render(args, value) {
        const server = visibleLine(String((args as { server?: unknown }).server))
        // The registry hands over a copy of the value, or one that a policy put in its place.
        const text = resultText(server, value, ahead.get(args as object))
        return [{ type: 'text', text }]
      },
    },
    isConcurrencySafe: () => true,
    async execute(args, exec) {
      const providers = visible(exec.agent)
      const violations = validateJsonSchemaValue(parameters, args, '')
      if (violations.length > 0) {
        throw new ToolArgsError([...violations, `servers to choose from: ${nameList(providers.keys())}`])
      }
      const valid = args as Args & { server: string }
      const provider = providers.get(valid.server)
      if (provider === undefined) {
        throw new Error(
          `unknown MCP server ${visibleLine(JSON.stringify(valid.server))}; servers to choose from: ${nameList(providers.keys())}`,
        )
      }
      const request = tool.request(valid)
      try {
        const value = await provider.request(request, exec)
        ahead.set(valid, await showPieces(valid.server, value))
        return value
      } catch (error) {
        throw new Error(
          `MCP server "${valid.server}", ${request.method}: ${visibleExcerpt(messageOf(error))}`,
          {
            cause: error,
          },
        )
      }
    },
  }
}
