/**
 * The client under test, as the conformance suite starts it: `node driver.ts <server URL>`.
 *
 * Waits for its turn, boots the real host, mounts one entry of the plugin for the URL, and does what the
 * scenario named in `MCP_CONFORMANCE_SCENARIO` needs. Prints {@link DONE} when all of it worked; otherwise the
 * reason and the host's log go to stderr. Invariant: ends by itself, because the suite only ends the shell
 * around it.
 */
import { GATE_VARIABLE, passGate } from './gate.ts'
import { DONE } from './results.ts'

/** Longer than any scenario takes on a busy machine. */
const DEADLINE_MS = 60_000

const [url] = process.argv.slice(2)
if (url === undefined) throw new Error('usage: driver.ts URL')
const { MCP_CONFORMANCE_SCENARIO: scenario = '', MCP_CONFORMANCE_CONTEXT: context = '{}' } = process.env

if (await passGate(process.env[GATE_VARIABLE], scenario)) await drive(url)

async function drive(serverUrl: string): Promise<void> {
  // Only now, so that the drivers that wait cost next to nothing.
  const [mcpClient, { default: McpResourceRuntime }, { startHost }, { actions, SERVER_NAME }] =
    await Promise.all([
      import('@deepseek-ai/dsh-mcp-client'),
      import('@deepseek-ai/dsh-mcp-resources'),
      import('@dsh-mcp/host'),
      import('./scenarios.ts'),
    ])
  const host = await startHost()
  setTimeout(() => {
    process.stderr.write(`not done after ${DEADLINE_MS} ms\n${host.logText()}\n`)
    process.exit(1)
  }, DEADLINE_MS).unref()
  try {
    await host.mount(McpResourceRuntime)
    await host.mount(mcpClient, {
      serverName: SERVER_NAME,
      transport: 'streamable-http',
      url: serverUrl,
      failOnStartupError: true,
    })
    await actions[scenario]?.({ host, context: JSON.parse(context) as Record<string, unknown> })
    process.stdout.write(`${DONE}\n`)
  } catch (error) {
    process.stderr.write(`${String(error)}\n${host.logText()}\n`)
    process.exitCode = 1
  } finally {
    await host.dispose()
  }
}
