/**
 * A real Cordis root with the published host packages, for tests.
 *
 * Invariants: everything a test mounts is disposed with the host; logs and statuses are collected until the
 * last plugin is down; nothing of the host keeps the process alive after `dispose`.
 */

import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Context } from '@deepseek-ai/cordis'
import type { Fiber, Plugin } from '@deepseek-ai/cordis'
import TimerService from '@deepseek-ai/cordis-plugin-timer'
import type { Agent } from '@deepseek-ai/dsh-agent'
import LocalAttachmentStore from '@deepseek-ai/dsh-attachment-local'
import type { Config as AttachmentConfig } from '@deepseek-ai/dsh-attachment-local'
import WorkerThreadCodeRuntime from '@deepseek-ai/dsh-code-runtime-worker-thread'
import type { Config as CodeRuntimeConfig } from '@deepseek-ai/dsh-code-runtime-worker-thread'
import LlmRuntime, { CallId } from '@deepseek-ai/dsh-llm'
import type { ContentBlock, ToolSchema } from '@deepseek-ai/dsh-llm'
import { createScope } from '@deepseek-ai/dsh-scope'
import type { ScopeKey } from '@deepseek-ai/dsh-scope'
import SystemPrompt, { renderContextSnapshot, renderPrompt } from '@deepseek-ai/dsh-system-prompt'
import type { AssembledSection, Config as SystemPromptConfig } from '@deepseek-ai/dsh-system-prompt'
import ToolRuntime from '@deepseek-ai/dsh-tools'
import type { ToolExecutionResult, ToolPresentationMode } from '@deepseek-ai/dsh-tools'
import { LaterSystemPrompt } from './later-system-prompt.ts'
import { growth, holdings } from './leaks.ts'
import type { Holdings } from './leaks.ts'
import { LogCollector } from './logs.ts'
import { ScriptedLlm } from './scripted-llm.ts'
import type { ScriptedModels } from './scripted-llm.ts'
import { StatusRecorder } from './statuses.ts'
import type { McpStatus, McpStatusMatch, StatusWaitOptions } from './statuses.ts'

/** What {@link startHost} mounts besides the system prompt and the tool registry. */
export interface HostOptions {
  /** How tools are presented to the model. Default `native`; the others mount the code runtime too. */
  mode?: ToolPresentationMode
  /** System prompt configuration. Default: no harness identity, so that the prompt holds only what a test adds. */
  systemPrompt?: SystemPromptConfig
  /** The prompt service as hosts after 0.1.0-rc.8 have it. Default: as published. */
  laterPrompt?: boolean
  /** Mounts the Cordis timer service. */
  timer?: boolean
  /** Mounts the local attachment store on a temporary directory, optionally with other limits. */
  attachments?: boolean | Omit<AttachmentConfig, 'dshHome'>
  /** Mounts the worker-thread code runtime, optionally configured. Default: when `mode` needs it. */
  codeRuntime?: boolean | CodeRuntimeConfig
  /** Mounts the LLM service with a scripted provider that has these models. */
  llm?: ScriptedModels
  /** The least severe log level to collect: 0 error, 1 info, 2 warn, 3 debug (the default). */
  logLevel?: number
}

/** How {@link TestHost.call} calls a tool. */
export interface CallOptions {
  /** The calling agent, or the key of a {@link HostScope}. Default: a call without an agent. */
  agent?: Agent | ScopeKey
  /** Cancels the call. */
  signal?: AbortSignal
}

/** An agent-like registration scope. */
export interface HostScope {
  /** Pass this wherever a scope or an agent is asked for. */
  readonly key: ScopeKey
  /** Registrations made through this context belong to the scope. It injects `tools` and `systemPrompt`. */
  readonly ctx: Context
  /** End the scope and everything registered in it. */
  dispose(): Promise<void>
}

/** An assembled system prompt. */
export interface HostPrompt {
  /** The rendered text, exactly as the model gets it. */
  readonly text: string
  /** The sections that have text, in order, before variables are filled in. */
  readonly sections: readonly AssembledSection[]
  /** The rendered dynamic context. */
  readonly context: string
  /** The tool schemas of the request, in the model's order. */
  readonly tools: readonly ToolSchema[]
}

/** A running host. */
export interface TestHost extends AsyncDisposable {
  /** The root context. Services are read from it directly: `host.ctx.tools`. */
  readonly ctx: Context
  readonly logs: LogCollector
  readonly statuses: StatusRecorder
  /** The scripted model, when {@link HostOptions.llm} was given. */
  readonly llm: ScriptedLlm | undefined
  /** How many `tools/change` events there were. */
  readonly toolChanges: number
  /**
   * Mount a plugin and wait until it is active.
   *
   * @param ctx - where to mount; default the root. A scope's `ctx` mounts into that scope.
   * @throws the plugin's own configuration or start error.
   */
  mount(plugin: Plugin, config?: unknown, ctx?: Context): Promise<Fiber>
  /** Call a tool through the whole registry pipeline, with a fresh call id. Never rejects: see `isError`. */
  call(name: string, args?: unknown, options?: CallOptions): Promise<ToolExecutionResult>
  /** The text blocks of a result (or any content), joined with newlines. */
  text(result: ToolExecutionResult | { content: readonly ContentBlock[] }): string
  /** The tool schemas visible in a scope. */
  schemas(scope?: ScopeKey): ToolSchema[]
  /** The tool names visible in a scope, in registry order. */
  toolNames(scope?: ScopeKey): string[]
  /** Assemble and render the system prompt of a scope. */
  prompt(scope?: ScopeKey): Promise<HostPrompt>
  /** Create a registration scope. The name is for people who read a failure. */
  scope(name?: string, parent?: ScopeKey): HostScope
  /** See {@link StatusRecorder.wait}. */
  status(serverName: string, match: McpStatusMatch, options?: StatusWaitOptions): Promise<McpStatus>
  /** Every collected log message as text. */
  logText(): string
  /** What the process holds now that it did not hold when this host was started. */
  leaks(): Holdings
  /** Dispose every plugin (all at once, as the root does), then the root. Idempotent. */
  dispose(): Promise<void>
}

/** Boot a host. */
export async function startHost(options: HostOptions = {}): Promise<TestHost> {
  const { mode = 'native', logLevel = 3 } = options
  const before = holdings()
  const ctx = new Context()
  const logs = new LogCollector()
  const statuses = new StatusRecorder()
  let toolChanges = 0
  let attachmentsHome: string | undefined
  let llm: ScriptedLlm | undefined

  async function dispose(): Promise<void> {
    const children = [...ctx.registry.values()]
      .flatMap((runtime) => [...runtime.fibers])
      .filter((fiber) => fiber.parent.fiber === ctx.fiber)
    await Promise.all(children.map((fiber) => fiber.dispose()))
    await ctx.fiber.dispose()
    if (attachmentsHome !== undefined) await rm(attachmentsHome, { recursive: true, force: true })
  }

  logs.attach(ctx, logLevel)
  statuses.attach(ctx)
  ctx.on('tools/change', () => void toolChanges++)
  const promptService = options.laterPrompt === true ? LaterSystemPrompt : SystemPrompt
  await ctx.plugin(promptService, { includeHarnessIdentity: false, ...options.systemPrompt })
  if (options.timer === true) await ctx.plugin(TimerService)
  const codeRuntime = options.codeRuntime ?? mode !== 'native'
  if (codeRuntime !== false)
    await ctx.plugin(WorkerThreadCodeRuntime, codeRuntime === true ? {} : codeRuntime)
  if (options.attachments !== undefined && options.attachments !== false) {
    attachmentsHome = await mkdtemp(join(tmpdir(), 'dsh-mcp-host-'))
    const limits = options.attachments === true ? {} : options.attachments
    await ctx.plugin(LocalAttachmentStore, { ...limits, dshHome: attachmentsHome })
  }
  if (options.llm !== undefined) {
    await ctx.plugin(LlmRuntime)
    llm = new ScriptedLlm(options.llm)
    llm.register(ctx)
  }
  await ctx.plugin(ToolRuntime, { mode })
  // What an agent's scope can reach directly is what the plugin that mints it injects.
  const scopes = await ctx.plugin({
    name: 'scopes',
    inject: ['tools', 'systemPrompt'],
    apply: async () => {},
  })
  toolChanges = 0

  return {
    ctx,
    logs,
    statuses,
    llm,
    get toolChanges() {
      return toolChanges
    },
    mount: async (plugin, config, parent = ctx) => await parent.plugin(plugin, config),
    call: async (name, args = {}, { agent, signal = new AbortController().signal } = {}) =>
      await ctx.tools.execute({
        callId: CallId(randomUUID()),
        name,
        arguments: args,
        signal,
        ...(agent !== undefined && { agent: agent as Agent }),
      }),
    text: ({ content }) => content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n'),
    schemas: (scope) => ctx.tools.schemas(scope),
    toolNames: (scope) => ctx.tools.schemas(scope).map(({ name }) => name),
    prompt: async (scope) => {
      const assembly = await ctx.systemPrompt.assemble(scope === undefined ? {} : { scope })
      return {
        text: renderPrompt(assembly),
        sections: assembly.sections.filter(({ text }) => text !== ''),
        context: renderContextSnapshot(assembly),
        tools: assembly.tools,
      }
    },
    scope: (name = 'scope', parent) => {
      const key = { name }
      const scope = createScope(scopes.ctx, key, parent === undefined ? {} : { parent })
      return { key, ctx: scope.ctx, dispose: () => scope.dispose() }
    },
    status: async (serverName, match, waitOptions) => await statuses.wait(serverName, match, waitOptions),
    logText: () => logs.text(),
    leaks: () => growth(before),
    dispose,
    [Symbol.asyncDispose]: dispose,
  }
}
