import { randomUUID } from 'node:crypto'
import AgentRegistry from '@deepseek-ai/dsh-agent'
import type { Agent } from '@deepseek-ai/dsh-agent'
import AgentLoop from '@deepseek-ai/dsh-agent-loop'
import { userMessage } from '@deepseek-ai/dsh-llm'
import SessionStore, { SessionId } from '@deepseek-ai/dsh-session'
import { SCRIPTED_PROVIDER, startHost } from '@dsh-mcp/host'
import type { HostOptions, TestHost } from '@dsh-mcp/host'
import { describe, expect, it } from 'vitest'
import McpResourceRuntime from '../src/index.ts'
import { FixedProvider, mountServer, read, TOOLS } from './support.ts'

async function hostWithAgents(options: HostOptions): Promise<TestHost> {
  const host = await startHost({ ...options, llm: { model: undefined } })
  await host.mount(SessionStore)
  await host.mount(AgentRegistry)
  await host.mount(AgentLoop, {})
  await host.mount(McpResourceRuntime)
  return host
}
