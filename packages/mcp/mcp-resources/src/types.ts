/** What a connection gives to the resource service, and what it is asked for. */
import type { JsonValue, ToolExecution } from '@deepseek-ai/dsh-tools'

/** One resource operation of MCP. Cursors and URIs are the server's own and are passed on as they are. */
export type McpResourceRequest =
  | {
      method: 'resources/list' | 'resources/templates/list'
      /** Exactly this page. Absent: every page, collected into one result. */
      cursor?: string
    }
  | { method: 'resources/read'; uri: string }

/** The resources of one configured server, provided by whoever owns the connection to it. */
export interface McpResourceProvider {
  /**
   * Runs one operation on the live connection.
   *
   * Deadlines are the provider's. A server without the resources capability is answered for with empty lists,
   * and with an error on a read.
   *
   * @param request - what to ask the server.
   * @param exec - the call it is for: the caller (`agent`) and its cancellation (`signal`), unchanged.
   * @returns the server's complete result as lossless JSON.
   * @throws with a message for the model; it is shown behind the server's name and the method.
   */
  request(request: McpResourceRequest, exec: ToolExecution): Promise<JsonValue>
}
