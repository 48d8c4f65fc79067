/** Calls one registered tool for a command: bounded, interruptible, and with a word when it takes long. */
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Agent } from '@deepseek-ai/dsh-agent'
import type {} from '@deepseek-ai/dsh-llm'
import type { ToolExecutionInput, ToolExecutionResult } from '@deepseek-ai/dsh-tools'
import { CommandError } from '../exit.ts'
import { errorLine } from '../render/text.ts'
import { waitFor } from '../wait.ts'
import { interrupted, missingService, type Session } from './session.ts'

/** How long a cancelled call may take to end, in ms, so that its cancellation still reaches the server. */
const CANCEL_BOUND_MS = 2000

/** The tool registry of a session. */
export function registry(session: Session) {
  const tools = session.booted.ctx.get('tools')
  if (tools === undefined) throw missingService(session, 'has no tool registry', '@deepseek-ai/dsh-tools')
  return tools
}

/** A model of the composition, as a request names it. */
export interface ModelRoute {
  readonly provider: string
  readonly model: string
}

/** @throws {CommandError} when the composition has no such model. */
export async function requireModel(session: Session, { provider, model }: ModelRoute): Promise<void> {
  const { booted } = session
  const llm = booted.ctx.get('llm')
  if (llm === undefined)
    throw missingService(session, 'has no models', '@deepseek-ai/dsh-llm and its provider')
  try {
    await llm.resolveModelInfo(provider, model)
  } catch (error) {
    throw new CommandError(
      'unusable',
      `${booted.file} has no model ${provider}/${model}: ${errorLine(error)}`,
    )
  }
}

/** One call. */
export interface ToolCall {
  readonly name: string
  readonly args: Record<string, unknown>
  /** The call in words, for messages. */
  readonly what: string
  /** The model that reads the result; it decides whether images are shown to it. */
  readonly reader?: ModelRoute | undefined
}

/**
 * Call a tool.
 *
 * @throws {CommandError} when it was interrupted or did not end in time; the server is told to cancel it.
 */
export async function callTool(session: Session, call: ToolCall): Promise<ToolExecutionResult> {
  const { name, args, what, reader } = call
  const cancel = new AbortController()
  // Of an agent, only its model matters to a call.
  const agent = reader && ({ options: reader } as unknown as Agent)
  const result = registry(session).execute({
    callId: randomUUID() as ToolExecutionInput['callId'],
    name,
    arguments: args,
    signal: cancel.signal,
    ...(agent && { agent }),
  })
  const waited = await waitFor(result, {
    boundMs: session.deadline === undefined ? undefined : Math.max(0, session.deadline - performance.now()),
    signal: session.interrupt,
    onSlow: (seconds) => session.output.note(`${what} is still running, ${seconds} s; Ctrl-C cancels it`),
  })
  if (waited.kind === 'done') return waited.value
  cancel.abort(
    new Error(waited.kind === 'late' ? 'the time of --timeout is over' : 'interrupted by the user'),
  )
  await Promise.race([result, delay(CANCEL_BOUND_MS, undefined, { ref: false })])
  if (waited.kind === 'interrupted') {
    throw new CommandError(interrupted(session.interrupt), `${what} was interrupted and cancelled`)
  }
  throw new CommandError(
    'failed',
    `${what} did not end within ${session.timeoutMs} ms and was cancelled; give it more time with --timeout MS`,
  )
}
