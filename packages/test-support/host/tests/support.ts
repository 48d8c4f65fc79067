/** Hosts and tools for the host's own tests. */

import { defineTool } from '@deepseek-ai/dsh-tools'
import type { ToolDefinition } from '@deepseek-ai/dsh-tools'
import { onTestFinished } from 'vitest'
import { startAgentHost, startHost } from '../src/index.ts'
import type { AgentHost, AgentHostOptions, HostOptions, TestHost } from '../src/index.ts'

/** A host that is disposed when the test ends. */
export async function openHost(options: HostOptions = {}): Promise<TestHost> {
  const started = await startHost(options)
  onTestFinished(() => started.dispose())
  return started
}

/** An agent host that is disposed when the test ends. */
export async function openAgentHost(options: AgentHostOptions = {}): Promise<AgentHost> {
  const started = await startAgentHost(options)
  onTestFinished(() => started.dispose())
  return started
}

/** A tool that greets in two text blocks; the name `nobody` makes it fail. */
export function greet(name = 'greet'): ToolDefinition {
  return defineTool({
    name,
    description: 'Greets somebody',
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
    execute: async ({ who }) => {
      if (who === 'nobody') throw new Error('there is nobody')
      return { greeting: `hello ${who}` }
    },
  })
}

/** A tool that runs until its call is cancelled. */
export function forever(): ToolDefinition {
  return defineTool({
    name: 'forever',
    description: 'Runs until cancelled',
    parameters: {},
    output: { schema: { type: 'null' }, render: () => [] },
    execute: async (_args, { signal }) => {
      if (!signal.aborted)
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
      return null
    },
  })
}
