/**
 * A {@link startHost} host with the published agent loop: sessions, agents and turns, driven by the scripted
 * model.
 */

import { randomUUID } from 'node:crypto'
import AgentRegistry from '@deepseek-ai/dsh-agent'
import type { Agent, AgentSetup } from '@deepseek-ai/dsh-agent'
import AgentLoop from '@deepseek-ai/dsh-agent-loop'
import { createUserMessage } from '@deepseek-ai/dsh-llm'
import SessionStore, { SessionId } from '@deepseek-ai/dsh-session'
import type { SessionEvent, SessionEventType } from '@deepseek-ai/dsh-session'
import ApprovalService from '@deepseek-ai/dsh-user-approval'
import { startHost } from './host.ts'
import type { HostOptions, TestHost } from './host.ts'
import { SCRIPTED_PROVIDER } from './scripted-llm.ts'
import type { ScriptedLlm, ScriptedModels } from './scripted-llm.ts'

/** The models of an agent host unless its options name others. */
export const defaultModels: ScriptedModels = {
  text: ['text'],
  vision: ['text', 'image'],
  undeclared: undefined,
}

/** Options of {@link startAgentHost}. */
export interface AgentHostOptions extends HostOptions {
  /** Mounts the approval service, so that a policy may answer `ask`. */
  approval?: boolean
  /** How many parallel-safe tool calls may overlap. Default: the loop's own. */
  maxParallelToolCalls?: number
}

/** How {@link AgentHost.agent} creates an agent. */
export interface HostAgentOptions {
  /** A model of the scripted provider. Default `text`. */
  model?: string
  /** The provider route. Default the scripted one. */
  provider?: string
  /** The session's working directory. */
  cwd?: string
  /** Composes the agent's scope before it starts. */
  setup?: AgentSetup
}

/** A live agent and its session log. */
export interface HostAgent {
  /** The agent itself; also its scope key: `host.schemas(it.agent)`, `host.call(name, args, { agent })`. */
  readonly agent: Agent
  /** Submit a user message and wait until the agent is idle again. */
  turn(text: string): Promise<void>
  /** Submit a user message without waiting. */
  submit(text: string): void
  /** The session's events of one type, in order. */
  events<T extends SessionEventType>(type: T): SessionEvent<T>[]
  /** Stop the agent and remove its session. */
  dispose(): Promise<void>
}

/** A running agent host. */
export interface AgentHost extends TestHost {
  readonly llm: ScriptedLlm
  /** Create an agent. It is disposed with the host. */
  agent(options?: HostAgentOptions): Promise<HostAgent>
}

/** Boot a host with sessions, agents and the agent loop. */
export async function startAgentHost(options: AgentHostOptions = {}): Promise<AgentHost> {
  const { approval = false, maxParallelToolCalls, ...hostOptions } = options
  const host = await startHost({ llm: defaultModels, ...hostOptions })
  const { ctx, llm } = host
  if (llm === undefined) throw new TypeError('an agent host needs a scripted model')
  await ctx.plugin(SessionStore)
  await ctx.plugin(AgentRegistry)
  if (approval) await ctx.plugin(ApprovalService, {})
  await ctx.plugin(AgentLoop, {
    agents: [],
    ...(maxParallelToolCalls !== undefined && { maxParallelToolCalls }),
  })

  async function agent(agentOptions: HostAgentOptions = {}): Promise<HostAgent> {
    const { model = 'text', provider = SCRIPTED_PROVIDER, cwd, setup } = agentOptions
    const handle = await ctx.agents.create({
      sessionId: SessionId(`agent-${randomUUID()}`),
      agentOptions: { provider, model },
      ...(cwd !== undefined && { meta: { cwd } }),
      ...(setup !== undefined && { setup }),
    })
    const submit = (text: string) => {
      handle.agent.followup(
        createUserMessage({ content: [{ type: 'text', text }], source: { kind: 'user' } }),
      )
    }
    return {
      agent: handle.agent,
      submit,
      turn: async (text) => {
        submit(text)
        await handle.agent.whenIdle()
      },
      events: <T extends SessionEventType>(type: T) =>
        handle.agent.session.events.filter((event): event is SessionEvent<T> => event.type === type),
      dispose: () => handle.dispose(),
    }
  }

  return Object.assign(host, { agent, llm })
}
