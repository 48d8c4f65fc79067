/** `dsh-mcp tools [server]`: what the model would get. */
import type { Outcome } from '../exit.ts'
import { renderTools, type ToolInfo } from '../render/tools.ts'
import { inSession, reportHealth, requireServer, type Common, type Session } from './session.ts'
import { registry } from './tool-call.ts'

/** Options of the command. */
export interface ToolsOptions extends Common {
  /** Only the tools of this server. */
  readonly server: string | undefined
  readonly withSchemas: boolean
  /** Also the tools that come from no MCP server. */
  readonly withHost: boolean
}

/** The server that a public tool name belongs to: the one with the longest name that it can belong to. */
export function serverOf(toolName: string, servers: readonly string[]): string | null {
  const owners = servers.filter((server) => toolName.startsWith(`mcp__${server}__`))
  return owners.toSorted((a, b) => b.length - a.length)[0] ?? null
}

/**
 * The registered tools, those of a server together, servers in the order of the composition.
 *
 * @param servers - those that run, which the tools can be of. Default: all.
 */
export function listTools(
  session: Session,
  withSchemas: boolean,
  servers: readonly string[] = session.booted.servers.names,
): ToolInfo[] {
  const registered = registry(session)
  const infos = registered.schemas().map(({ name, description, parameters }) => ({
    name,
    server: serverOf(name, servers),
    description,
    inputSchema: parameters,
    ...(withSchemas && { outputSchema: registered.get(name)?.output.schema }),
  }))
  return [...servers, null].flatMap((server) => infos.filter((info) => info.server === server))
}

/** Run the command. */
export async function tools(options: ToolsOptions): Promise<Outcome> {
  const { server, output } = options
  const isWanted = server === undefined ? undefined : (name: string) => name === server
  return await inSession(options, { isWanted }, async (session) => {
    if (server !== undefined) requireServer(session, server)
    const running = server === undefined ? undefined : [server]
    const wanted = listTools(session, options.withSchemas, running).filter((tool) =>
      server === undefined ? tool.server !== null || options.withHost : tool.server === server,
    )
    if (options.json) output.json(wanted)
    else output.result(wanted.length === 0 ? 'There are no tools.' : renderTools(wanted, output.paint))
    return server === undefined ? reportHealth(session) : 'ok'
  })
}
