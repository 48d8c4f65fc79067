/**
 * A small host as a program of its own, for tests of how it ends.
 *
 * `host-program.ts <mode> <config>`: mounts one entry, prints `ready`, and then ends as the mode says.
 */
import { Context } from '@deepseek-ai/cordis'
import SystemPrompt from '@deepseek-ai/dsh-system-prompt'
import ToolRuntime from '@deepseek-ai/dsh-tools'
import * as mcpClient from '../src/index.ts'

const [mode, config = ''] = process.argv.slice(2)
const ctx = new Context()
await ctx.plugin(SystemPrompt, {})
await ctx.plugin(ToolRuntime, {})
await ctx.plugin(mcpClient, JSON.parse(config) as mcpClient.StdioConfig)
console.log('ready')

switch (mode) {
  case 'exit':
    process.exit(3)
    break
  case 'throw':
    setImmediate(() => {
      throw new Error('a bug of the host')
    })
    break
  case 'reject':
    void Promise.reject(new Error('a bug of the host'))
    break
  case 'dispose':
    await ctx.fiber.dispose()
    break
  case 'handle':
    process.on('SIGTERM', () => void ctx.fiber.dispose())
    break
  default:
  // `wait`, for a signal or for nothing to be left to do.
}
