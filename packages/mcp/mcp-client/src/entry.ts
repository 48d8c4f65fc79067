/**
 * One entry at work: what its configuration asks for, wired together.
 *
 * Owns the supervisor and everything that the entry contributes to the host. Data flows one way: entry,
 * supervisor, generation, transport; and back only as events and results.
 */
import { createRequire } from 'node:module'
import type { Context } from '@deepseek-ai/cordis'
import type { Tool } from '@modelcontextprotocol/client'
import { entryLabel, type ResolvedConfig } from './config/resolve.ts'
import { Generation } from './connection/generation.ts'
import type { ConnectionState } from './connection/state.ts'
import { Supervisor } from './connection/supervisor.ts'
import { checkInstructions, InstructionsSection } from './context/instructions.ts'
import { provideResources } from './context/resources.ts'
import { createEntryLog, type EntryLog } from './diagnostics/entry-log.ts'
import { ConnectionFailure } from './diagnostics/failure.ts'
import { Redactor } from './diagnostics/redactor.ts'
import { emitStatus, type McpClientStatus, type McpClientStatusKind } from './status.ts'
import { callTool, type Caller } from './tools/call.ts'
import { buildCatalog } from './tools/catalog.ts'
import { createMcpToolDefinition, MAX_WORDS_LENGTH } from './tools/definition.ts'
import { ToolRegistrations } from './tools/registrations.ts'
import { createTransport } from './transport/create.ts'

const { version } = createRequire(import.meta.url)('../package.json') as { version: string }

/** Longest name of a tool in a message, in characters. */
const MAX_NAME_LENGTH = 100

/** How the client calls itself to a server. */
const CLIENT_INFO = { name: 'dsh-mcp-client', version }

const STATUS_KINDS: Record<ConnectionState['kind'], McpClientStatusKind> = {
  connecting: 'connecting',
  connected: 'connected',
  backoff: 'reconnecting',
  failed: 'failed',
  disposed: 'disposed',
}

/** A running entry. */
export class Entry {
  readonly #ctx: Context
  readonly #config: ResolvedConfig
  readonly #redactor: Redactor
  readonly #log: EntryLog
  readonly #tools: ToolRegistrations
  readonly #supervisor: Supervisor
  readonly #caller: Caller
  #instructions: InstructionsSection | undefined
  #loggedState: ConnectionState | undefined
  #reportedTools = ''
  #hasConnected = false
  #disposal: Promise<void> | undefined

  /** @param makeTransport - makes the transport of one connection. Default: what the configuration asks for. */
  constructor(ctx: Context, config: ResolvedConfig, makeTransport = createTransport) {
    this.#ctx = ctx
    this.#config = config
    this.#redactor = new Redactor(config.endpoint)
    this.#log = createEntryLog(ctx, config.serverName)
    this.#tools = new ToolRegistrations(ctx, (name, tool) => this.#define(name, tool))
    this.#supervisor = new Supervisor({
      serverName: config.serverName,
      transport: config.endpoint.transport,
      policy: config.reconnect,
      isStartFatal: config.failOnStartupError,
      callTimeoutMs: config.toolCallTimeoutMs,
      makeGeneration: (negotiation, events) =>
        new Generation({
          clientInfo: CLIENT_INFO,
          transport: makeTransport(ctx, config, this.#redactor, this.#log),
          negotiation,
          livenessIntervalMs: config.livenessIntervalMs,
          redactor: this.#redactor,
          events,
        }),
      sync: (generation) => this.#sync(generation),
      admit: ({ client }) =>
        checkInstructions(config.serverName, client.getInstructions(), config.maxInstructionBytes),
      adopt: ({ client }) => this.#instructions?.publish(client.getInstructions()),
      withdraw: () => {
        this.#tools.clear()
        this.#instructions?.publish(undefined)
      },
      publish: (state) => this.#publish(state),
      reportSync: (generation, error) =>
        this.#log.warn(
          'the changed tools were not taken over, the previous ones stand: %s',
          generation.explain(error, '').message,
        ),
      reportError: (generation, error) => this.#log.serverError(() => generation.explain(error, '').message),
    })
    this.#caller = {
      serverName: config.serverName,
      timeoutMs: config.toolCallTimeoutMs,
      redactor: this.#redactor,
      supervisor: this.#supervisor,
    }
  }

  /**
   * Make the first connection and the first sync.
   *
   * @throws {ConnectionFailure} when that failed and the entry is configured to fail with it.
   */
  async start(): Promise<void> {
    for (const path of this.#config.omitted) this.#log.warn('%s has no value, so it is left out', path)
    this.#instructions = new InstructionsSection(this.#ctx, this.#config.serverName)
    provideResources(this.#ctx, this.#caller)
    await this.#supervisor.start()
    const { state } = this.#supervisor
    if (!this.#config.failOnStartupError || state?.kind !== 'failed') return
    const { failure } = state
    throw new ConnectionFailure(`${entryLabel(this.#config.serverName)}: ${failure.message}`, {
      cause: failure,
    })
  }

  /** Whether the entry was told to end. */
  get isDisposed(): boolean {
    return this.#disposal !== undefined
  }

  /** End the connection and take back all contributions; settles when all is quiet. */
  dispose(): Promise<void> {
    this.#disposal ??= this.#supervisor.dispose()
    return this.#disposal
  }

  #define(name: string, tool: Tool) {
    return createMcpToolDefinition(this.#ctx, {
      name,
      rawName: tool.name,
      description: tool.description,
      inputSchema: tool.inputSchema,
      outputSchema: tool.outputSchema,
      isReadOnly: tool.annotations?.readOnlyHint,
      report: (level, format, ...words) =>
        this.#log[level](format, ...words.map((word) => this.#redactor.line(word, MAX_WORDS_LENGTH))),
      call: (args, exec) => callTool(this.#caller, tool, args, exec),
    })
  }

  async #sync(generation: Generation): Promise<void> {
    const { tools, report } = await generation.listTools()
    // What a connection listed before it ended says nothing about the one after it.
    if (generation.isOver) throw await generation.ended
    this.#reportTools(report)
    const show = (name: string) => this.#redactor.line(name, MAX_NAME_LENGTH)
    const catalog = buildCatalog(this.#config.serverName, tools, show)
    const { added, replaced, removed } = this.#tools.apply(catalog)
    if (added + replaced + removed > 0) {
      this.#log.debug(
        'tools: %d added, %d replaced, %d removed, %d in all',
        added,
        replaced,
        removed,
        this.#tools.size,
      )
    }
  }

  /** Say what is wrong with listed tools, but not at every sync again. */
  #reportTools(report: readonly string[]): void {
    const text = report.join('; ')
    if (text !== this.#reportedTools && text !== '') this.#log.warn('%s', text)
    this.#reportedTools = text
  }

  #publish(state: ConnectionState): void {
    if (state !== this.#loggedState) this.#logState(state)
    this.#loggedState = state
    emitStatus(this.#ctx, this.#status(state))
  }

  #status(state: ConnectionState): McpClientStatus {
    const status: McpClientStatus = {
      serverName: this.#config.serverName,
      status: STATUS_KINDS[state.kind],
      // When an entry ends, Cordis takes its registrations back before it tells the entry.
      toolCount: state.kind === 'disposed' ? 0 : this.#tools.size,
    }
    if (state.kind === 'connecting') return { ...status, attempt: state.attempt }
    if (state.kind === 'failed') return { ...status, error: state.failure.message }
    if (state.kind === 'backoff') {
      const { attempt, nextAttemptAt, failure } = state
      return { ...status, error: failure.message, attempt, nextAttemptAt }
    }
    if (state.kind === 'connected') return { ...status, ...this.#describeServer(state.generation) }
    return status
  }

  #logState(state: ConnectionState): void {
    switch (state.kind) {
      case 'connected': {
        this.#hasConnected = true
        const { serverInfo, protocolVersion } = this.#describeServer(state.generation)
        const server =
          serverInfo === undefined ? 'a server without a name' : `${serverInfo.name} ${serverInfo.version}`
        this.#log.info('connected to %s (protocol %s), %d tools', server, protocolVersion, this.#tools.size)
        break
      }
      case 'backoff': {
        const delayMs = Math.max(0, state.nextAttemptAt - Date.now())
        const { maxAttempts } = this.#config.reconnect
        // The first failure of all is one of the entry as it is written, most likely.
        const level = this.#hasConnected || state.attempt > 2 ? 'warn' : 'error'
        this.#log[level](
          '%s; attempt %d of %d in %d ms',
          state.failure.message,
          state.attempt,
          maxAttempts,
          delayMs,
        )
        this.#logOutput(state.failure)
        break
      }
      case 'failed':
        this.#log.error('%s; giving up until the entry is reloaded', state.failure.message)
        this.#logOutput(state.failure)
        break
      case 'connecting':
      case 'disposed':
        this.#log.debug('%s', state.kind)
    }
  }

  #logOutput(failure: ConnectionFailure): void {
    if (failure.output.length > 0)
      this.#log.info('its last output on standard error:\n%s', failure.output.join('\n'))
  }

  /** What a connected server says about itself, safe to print. */
  #describeServer({ client }: Generation): Pick<McpClientStatus, 'protocolVersion' | 'serverInfo'> {
    const protocolVersion = client.getNegotiatedProtocolVersion()
    const info = client.getServerVersion()
    return {
      ...(protocolVersion !== undefined && { protocolVersion: this.#redactor.line(protocolVersion, 40) }),
      ...(info !== undefined && {
        serverInfo: {
          name: this.#redactor.line(info.name, 100),
          version: this.#redactor.line(info.version, 40),
          ...(info.title !== undefined && { title: this.#redactor.line(info.title, 100) }),
        },
      }),
    }
  }
}
