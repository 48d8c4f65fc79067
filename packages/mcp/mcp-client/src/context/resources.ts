/**
 * A server's resources for the resource service: one provider for each entry, over its live connection.
 *
 * Invariants: the entry is a provider for as long as it is active, whether it is connected or not; nothing is
 * read that was not asked for.
 */
import type { Context } from '@deepseek-ai/cordis'
import type { McpResourceProvider, McpResourceRequest } from '@deepseek-ai/dsh-mcp-resources'
import type { JsonValue, ToolExecution } from '@deepseek-ai/dsh-tools'
import type { CacheableRequestOptions, Client } from '@modelcontextprotocol/client'
import { callError, type Caller } from '../tools/call.ts'
import { McpCallError } from '../tools/errors.ts'

/** Run one resource operation. Without a cursor the SDK collects every page; with one it gets exactly that page. */
async function send(client: Client, request: McpResourceRequest, options: CacheableRequestOptions): Promise<unknown> {
  const isCapable = client.getServerCapabilities()?.resources !== undefined
  switch (request.method) {
    case 'resources/list':
      return isCapable ? client.listResources(pageOf(request.cursor), options) : { resources: [] }
    case 'resources/templates/list':
      return isCapable ? client.listResourceTemplates(pageOf(request.cursor), options) : { resourceTemplates: [] }
    case 'resources/read':
      if (!isCapable) throw new McpCallError('The server offers no resources.', 'MCP_UNSUPPORTED')
      return client.readResource({ uri: request.uri }, options)
  }
}

function pageOf(cursor: string | undefined): { cursor: string } | undefined {
  return cursor === undefined ? undefined : { cursor }
}

/** The provider of one entry. */
export function createResourceProvider(caller: Caller): McpResourceProvider {
  return {
    async request(request: McpResourceRequest, exec: ToolExecution): Promise<JsonValue> {
      // A listing may take many requests; the deadline is for all of them.
      const signal = AbortSignal.any([exec.signal, AbortSignal.timeout(caller.timeoutMs)])
      const options: CacheableRequestOptions = { signal, timeout: caller.timeoutMs, cacheMode: 'bypass' }
      try {
        return (await caller.supervisor.use((generation) => send(generation.client, request, options), exec.signal)) as JsonValue
      } catch (error) {
        throw callError(caller, 'The request', error)
      }
    },
  }
}

/** Be a provider wherever and whenever the resource service is mounted. */
export function provideResources(ctx: Context, caller: Caller): void {
  ctx.inject(['mcpResources'], (service) => {
    service.mcpResources.register(caller.serverName, createResourceProvider(caller))
  })
}
