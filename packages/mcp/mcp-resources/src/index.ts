/**
 * Resources of MCP servers for agents: `ctx.mcpResources`, where connections register what they can read, and
 * three tools with which a model finds and reads it.
 */
export { McpResourceRuntime, McpResourceRuntime as default } from './runtime.ts'
export type { McpResourceProvider, McpResourceRequest } from './types.ts'
