import { defineTool } from '@deepseek-ai/dsh-tools'
import type { ToolDefinition } from '@deepseek-ai/dsh-tools'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startHost } from '../src/index.ts'
import type { HostOptions, TestHost } from '../src/index.ts'

async function host(options: HostOptions = {}): Promise<TestHost> {
  const started = await startHost(options)
  onTestFinished(() => started.dispose())
  return started
}

function greet(name = 'greet'): ToolDefinition {
  return defineTool({
    name,
    description: 'Greets',
    parameters: { who: { type: 'string', required: true } },
    output: {
      schema: {
        type: 'object',
        properties: { greeting: { type: 'string', required: true } },
        additionalProperties: false,
      },
      render: (_args, { greeting }) => [
        { type: 'text', text: greeting },
        { type: 'text', text: 'bye' },
      ],
    },
    execute: async ({ who }) => ({ greeting: `hello ${who}` }),
  })
}

describe('a host', () => {
  it('calls a registered tool through the real pipeline', async () => {
    const it = await host()
    it.ctx.tools.register(greet())
    const result = await it.call('greet', { who: 'you' })
    expect(result).toMatchObject({ isError: false, value: { greeting: 'hello you' } })
    expect(it.text(result)).toBe('hello you\nbye')
    console.log(it.logText())
  })
})
