/**
 * A legacy server with a tool for each large result: over stdio, or with the argument `http` on a port that it
 * prints. It ends with its input.
 */

import { startHttpFixture, Toolbox, type JsonObject } from '@dsh-mcp/fixtures'
import { createLegacyServer } from '@dsh-mcp/fixtures/legacy-server.ts'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { LARGE_RESULTS } from '../large-results.ts'

const results: Record<string, JsonObject> = {}
for (const [name, result] of Object.entries(LARGE_RESULTS)) {
  // Made when it is asked for: all of them at once would take most of the memory of a small machine.
  Object.defineProperty(results, name, { get: () => result.make() })
}
const tools = Object.keys(LARGE_RESULTS).map((name) => ({ name, inputSchema: { type: 'object' } }))

process.stdin.on('end', () => process.exit(0))
if (process.argv[2] === 'http') {
  const { url } = await startHttpFixture({ era: 'legacy', tools, results })
  console.log(url)
  process.stdin.resume()
} else {
  await createLegacyServer(new Toolbox({ tools, results })).connect(new StdioServerTransport())
}
