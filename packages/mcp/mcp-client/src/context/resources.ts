/**
 * A server's resources for the resource service: one provider for each entry, over its live connection.
 *
 * Invariants: the entry is a provider for as long as it is active, whether it is connected or not; nothing is
 * read that was not asked for; one request takes no longer than one tool call may, however many pages it is.
 */
import type { Context } from '@deepseek-ai/cordis'
import type { McpResourceProvider, McpResourceRequest } from '@deepseek-ai/dsh-mcp-resources'
import type { JsonValue, ToolExecution } from '@deepseek-ai/dsh-tools'
import { SdkError, SdkErrorCode, type CacheableRequestOptions } from '@modelcontextprotocol/client'
import type { Generation } from '../connection/generation.ts'
import { ListingError } from '../connection/listing.ts'
import { ConnectionFailure } from '../diagnostics/failure.ts'
import { callError, type Caller } from '../tools/call.ts'
import { McpCallError } from '../tools/errors.ts'
import { losslessJson } from '../tools/result.ts'

/** Run one resource operation. Without a cursor the SDK collects every page; with one it gets exactly that page. */
async function send(
  generation: Generation,
  request: McpResourceRequest,
  signal: AbortSignal,
  timeout: number,
): Promise<unknown> {
  const { client } = generation
  const isCapable = client.getServerCapabilities()?.resources !== undefined
  const options: CacheableRequestOptions = { signal, timeout, cacheMode: 'bypass' }
  switch (request.method) {
    case 'resources/list': {
      if (!isCapable) return { resources: [] }
      const run = (until: AbortSignal) =>
        client.listResources(pageOf(request.cursor), { ...options, signal: until })
      return await generation.list('resources', run, signal, timeout)
    }
    case 'resources/templates/list': {
      if (!isCapable) return { resourceTemplates: [] }
      const run = (until: AbortSignal) =>
        client.listResourceTemplates(pageOf(request.cursor), { ...options, signal: until })
      return await generation.list('resourceTemplates', run, signal, timeout)
    }
    case 'resources/read':
      if (!isCapable) throw new McpCallError('The server offers no resources.', 'MCP_UNSUPPORTED')
      return await client.readResource({ uri: request.uri }, options)
  }
}

function pageOf(cursor: string | undefined): { cursor: string } | undefined {
  return cursor === undefined ? undefined : { cursor }
}

/** The error of a request. Nothing was changed by it, so that it can be repeated, whatever became of it. */
function requestError(caller: Caller, exec: ToolExecution, error: unknown): McpCallError {
  const options = { cause: error }
  if (exec.signal.aborted) return new McpCallError('The request was cancelled.', 'MCP_CANCELLED', options)
  if (error instanceof ConnectionFailure) {
    const code = error.isUnsent ? 'MCP_UNAVAILABLE' : 'MCP_CONNECTION_LOST'
    return new McpCallError(`The request failed: ${error.message}. It can be repeated.`, code, options)
  }
  if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout) {
    const message = `The request was not answered within ${caller.timeoutMs} ms. It can be repeated.`
    return new McpCallError(message, 'MCP_TIMEOUT', options)
  }
  if (error instanceof ListingError) {
    const message = `The request failed: ${error.message}. Ask for one page at a time, with a cursor.`
    return new McpCallError(message, 'MCP_PROTOCOL_ERROR', options)
  }
  return callError(caller, 'The request', error)
}

/** The provider of one entry. */
export function createResourceProvider(caller: Caller): McpResourceProvider {
  const { supervisor, timeoutMs } = caller
  return {
    async request(request: McpResourceRequest, exec: ToolExecution): Promise<JsonValue> {
      try {
        const run = (generation: Generation) => send(generation, request, exec.signal, timeoutMs)
        return (await losslessJson(await supervisor.use(run, exec.signal))) as JsonValue
      } catch (error) {
        throw requestError(caller, exec, error)
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
