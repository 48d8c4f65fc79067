/**
 * Who is measured: this client and the published one, each in a real host, and the SDK's client alone.
 *
 * The published client is used from outside only: as a plugin with a configuration.
 */

import type { Plugin } from '@deepseek-ai/cordis'
import * as ours from '@deepseek-ai/dsh-mcp-client'
import { scrubbedParentEnv } from '@deepseek-ai/dsh-subprocess'
import { startHost, type TestHost } from '@dsh-mcp/host'
import { Client, type ClientOptions, type Tool } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'

/** What starts a server. */
export interface ServerCommand {
  readonly command: string
  readonly args: readonly string[]
}

/** A contender's connection to one server, its tools listed. */
export interface Connection {
  readonly toolCount: number
  /**
   * Call a tool by its raw name, and return the text of its result.
   *
   * @throws {Error} when the call failed.
   */
  call(tool: string, args?: Record<string, unknown>): Promise<string>
  /** End it; settles when the contender says that it has ended. */
  close(): Promise<void>
}

/** One that can connect to servers. */
export interface Contender extends AsyncDisposable {
  /** Connect; settles when the server's tools can be called. */
  connect(server: ServerCommand): Promise<Connection>
}

/** A contender that is a plugin in a host of its own. */
export interface PluginContender extends Contender {
  readonly host: TestHost
  /** The name under which a raw tool of the latest connection is registered. */
  publicName(tool: string): string
}

/** The plugins that are compared. Not a literal, because its types and ours declare the same names differently. */
const UPSTREAM: string = 'upstream-mcp-client'

/** This client, in a host. */
export async function startOurs(): Promise<PluginContender> {
  return await startPlugin(ours as Plugin)
}

/** The published client, in a host. */
export async function startUpstream(): Promise<PluginContender> {
  return await startPlugin((await import(UPSTREAM)) as Plugin)
}

async function startPlugin(plugin: Plugin): Promise<PluginContender> {
  const host = await startHost({ logLevel: 1 })
  let connections = 0
  return {
    host,
    publicName: (tool) => `mcp__s${connections}__${tool}`,
    async connect({ command, args }) {
      const serverName = `s${++connections}`
      const own = () => host.toolNames().filter((name) => name.startsWith(`mcp__${serverName}__`))
      const fiber = await host.mount(plugin, { serverName, transport: 'stdio', command, args })
      return {
        get toolCount() {
          return own().length
        },
        call: async (tool, toolArgs) => {
          const result = await host.call(`mcp__${serverName}__${tool}`, toolArgs)
          if (result.isError) throw new Error(host.text(result))
          return host.text(result)
        },
        close: async () => await fiber.dispose(),
      }
    },
    [Symbol.asyncDispose]: async () => await host.dispose(),
  }
}

/** A connection of the SDK alone. */
export interface SdkConnection extends Connection {
  readonly client: Client
  readonly pid: number
  /** The list of the connection's start. */
  readonly tools: readonly Tool[]
}

/**
 * Connect with nothing but the SDK: the plain legacy handshake over its own stdio transport, and one list. The
 * server gets the environment that the plugins give it.
 */
export async function connectSdk(
  { command, args }: ServerCommand,
  options: ClientOptions = {},
): Promise<SdkConnection> {
  const env = scrubbedParentEnv()
  const transport = new StdioClientTransport({ command, args: [...args], env, stderr: 'ignore' })
  const client = new Client({ name: 'bench', version: '1.0.0' }, options)
  await client.connect(transport)
  const { tools } = await client.listTools()
  return {
    client,
    tools,
    pid: transport.pid!,
    toolCount: tools.length,
    call: async (tool, toolArgs = {}) => {
      const { content, isError } = await client.callTool({ name: tool, arguments: toolArgs })
      const text = content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')
      if (isError) throw new Error(text)
      return text
    },
    close: async () => await client.close(),
  }
}
