/** Providers for tests: they answer from a table and remember what they were asked. */
import type { Context, Fiber } from '@deepseek-ai/cordis'
import type { JsonValue, ToolExecution } from '@deepseek-ai/dsh-tools'
import type { TestHost } from '@dsh-mcp/host'
import type { McpResourceProvider, McpResourceRequest, McpResourceRuntime } from '../src/index.ts'

/** The shared tools, in the order of the registry. */
export const TOOLS = ['list_mcp_resources', 'list_mcp_resource_templates', 'read_mcp_resource']

/** A provider that answers every request with one value, or with what a function makes of it. */
export class FixedProvider implements McpResourceProvider {
  readonly requests: McpResourceRequest[] = []
  readonly executions: ToolExecution[] = []
  readonly #answer: JsonValue | ((request: McpResourceRequest, exec: ToolExecution) => unknown)

  constructor(answer: JsonValue | ((request: McpResourceRequest, exec: ToolExecution) => unknown) = {}) {
    this.#answer = answer
  }

  async request(request: McpResourceRequest, exec: ToolExecution): Promise<JsonValue> {
    this.requests.push(request)
    this.executions.push(exec)
    return (await (typeof this.#answer === 'function'
      ? this.#answer(request, exec)
      : this.#answer)) as JsonValue
  }
}

/** Mounts a plugin that registers one provider whenever the service is there, as a connection does. */
export async function mountServer(
  host: TestHost,
  server: string,
  provider: McpResourceProvider = new FixedProvider({ from: server }),
  ctx: Context = host.ctx,
): Promise<Fiber> {
  return await host.mount(
    {
      name: `server-${server}`,
      inject: ['mcpResources'],
      apply: (registering: Context) => void registering.mcpResources.register(server, provider),
    },
    undefined,
    ctx,
  )
}

/** One content of a read. */
export const read = (...contents: JsonValue[]) => ({ contents })

/** The service for a caller in the scope of a context that did not inject it. */
export function resourcesOf(ctx: Context): McpResourceRuntime {
  const service = ctx.get('mcpResources')
  if (service === undefined) throw new Error('the resource service is not mounted')
  return service
}
