/**
 * What each client scenario of the conformance suite wants the host to do once the entry is connected.
 *
 * A scenario without an entry here wants nothing but the connection and the tools that came with it. All of it
 * goes through the host's tool registry, as a model's calls do.
 */
import type { TestHost } from '@dsh-mcp/host'
import type { JsonValue, ToolExecutionResult } from '@deepseek-ai/dsh-tools'

/** The name of the one entry; the suite's server is reached as this. */
export const SERVER_NAME = 'conformance'

/** What an action works with. */
export interface Drive {
  readonly host: TestHost
  /** What the suite passed along in `MCP_CONFORMANCE_CONTEXT`; `{}` when there was nothing. */
  readonly context: Readonly<Record<string, unknown>>
}

type Action = (drive: Drive) => Promise<void>

const publicName = (rawName: string) => `mcp__${SERVER_NAME}__${rawName}`

/**
 * Call a registered tool.
 *
 * @throws with the text of the failed call.
 */
async function call({ host }: Drive, name: string, args: unknown): Promise<ToolExecutionResult> {
  const result = await host.call(name, args)
  if (result.isError) throw new Error(`${name}: ${host.text(result)}`)
  return result
}

/**
 * Call every tool of the entry without arguments.
 *
 * @throws with the text of each failed call, after all of them.
 */
async function callEverything(drive: Drive): Promise<void> {
  const failures: string[] = []
  for (const name of drive.host.toolNames().filter((tool) => tool.startsWith(publicName('')))) {
    await call(drive, name, {}).catch((error: Error) => failures.push(error.message))
  }
  if (failures.length > 0) throw new Error(failures.join('\n'))
}

/** List the server's resources, then read each of them. */
async function readEverything(drive: Drive): Promise<void> {
  const listed = await call(drive, 'list_mcp_resources', { server: SERVER_NAME })
  const { resources } = listed.value as { resources: { uri: string }[] }
  for (const { uri } of resources) await call(drive, 'read_mcp_resource', { server: SERVER_NAME, uri })
}

/** The input schema of a tool as the model sees it. */
function schemaOf({ host }: Drive, rawName: string): JsonValue {
  const schema = host.schemas().find(({ name }) => name === publicName(rawName))
  if (schema === undefined) throw new Error(`${rawName} is not registered`)
  return schema.parameters as JsonValue
}

/** Actions by scenario. */
export const actions: Readonly<Record<string, Action>> = {
  tools_call: async (drive) => void (await call(drive, publicName('add_numbers'), { a: 5, b: 3 })),
  'sse-retry': callEverything,
  'request-metadata': callEverything,
  'elicitation-sep1034-client-defaults': callEverything,
  'sep-2322-client-request-state': callEverything,
  'http-standard-headers': async (drive) => {
    await callEverything(drive)
    await readEverything(drive)
  },
  'http-custom-headers': async (drive) => {
    const { toolCalls } = drive.context as { toolCalls: { name: string; arguments: JsonValue }[] }
    for (const { name, arguments: args } of toolCalls) await call(drive, publicName(name), args)
  },
  'http-invalid-tool-headers': callEverything,
  'json-schema-ref-no-deref': async (drive) => {
    schemaOf(drive, 'lookup_user')
    // Its server refuses every call; what matters is that nothing on the way there follows the reference.
    await drive.host.call(publicName('lookup_user'), { id: 'a-1', profile: { displayName: 'A' } })
  },
  'json-schema-2020-12-preservation': async (drive) => {
    const schema = schemaOf(drive, 'json_schema_2020_12_tool')
    await call(drive, publicName('json_schema_echo'), { schema })
  },
}
