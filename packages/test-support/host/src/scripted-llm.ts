/**
 * A model provider that plays a script, registered with the real LLM service.
 *
 * Every request is recorded as it reached the adapter, so a test can compare what the model was sent.
 */

import type { Context } from '@deepseek-ai/cordis'
import { CallId, LlmAdapter } from '@deepseek-ai/dsh-llm'
import type {
  ContentBlock,
  GenerateOptions,
  LlmModelInfo,
  LlmResolvedModelInfo,
  ModelModality,
  StreamChunk,
} from '@deepseek-ai/dsh-llm'

/** The models of the scripted provider: model id → accepted input; `undefined` means "not declared". */
export type ScriptedModels = Readonly<Record<string, readonly ModelModality[] | undefined>>

/** One tool call that the scripted model makes. */
export interface ScriptedToolCall {
  readonly name: string
  readonly arguments?: unknown
  /** Default: a fresh id. */
  readonly id?: string
}

/** One answer of the scripted model: text, tool calls, both, or whatever a function makes of the request. */
export type ScriptedAnswer =
  | { readonly text?: string; readonly calls?: readonly ScriptedToolCall[] }
  | ((request: GenerateOptions) => { readonly text?: string; readonly calls?: readonly ScriptedToolCall[] })

/** The provider route of the scripted model. */
export const SCRIPTED_PROVIDER = 'scripted'

/** A provider whose answers a test writes down beforehand. */
export class ScriptedLlm extends LlmAdapter {
  /** Every request so far, detached from the caller's objects. */
  readonly requests: GenerateOptions[] = []
  readonly #models: ScriptedModels
  readonly #script: ScriptedAnswer[] = []
  #calls = 0

  /** @param models - the models to offer. */
  constructor(models: ScriptedModels) {
    super()
    this.#models = models
  }

  /** Register with a context's LLM service, for as long as that context lives. */
  register(ctx: Context): void {
    ctx.llm.registerAdapter([SCRIPTED_PROVIDER], this)
  }

  /** Append answers to the script. A request beyond its end is answered with the text `done`. */
  script(...answers: readonly ScriptedAnswer[]): void {
    this.#script.push(...answers)
  }

  override async listModels(provider: string): Promise<LlmModelInfo[]> {
    return Object.keys(this.#models).map((id) => this.#describe(provider, id))
  }

  override async resolveModel(provider: string, model: string): Promise<LlmResolvedModelInfo> {
    return this.#describe(provider, model)
  }

  override async *stream(options: GenerateOptions): AsyncGenerator<StreamChunk> {
    const { signal, ...request } = options
    this.requests.push(structuredClone(request))
    signal?.throwIfAborted()
    const next = this.#script.shift() ?? { text: 'done' }
    const { text, calls = [] } = typeof next === 'function' ? next(options) : next
    const blocks: ContentBlock[] = [
      ...(text !== undefined ? [{ type: 'text' as const, text }] : []),
      ...calls.map((call) => ({
        type: 'tool-call' as const,
        id: CallId(call.id ?? `scripted-${++this.#calls}`),
        name: call.name,
        arguments: JSON.stringify(call.arguments ?? {}),
      })),
    ]
    for (const [index, block] of blocks.entries()) {
      yield { type: 'block-start', index, blockType: block.type }
      if (block.type === 'text') yield { type: 'text-delta', index, text: block.text }
      if (block.type === 'tool-call') {
        yield {
          type: 'tool-call-delta',
          index,
          id: block.id,
          name: block.name,
          argumentsDelta: block.arguments,
        }
      }
      yield { type: 'block-end', index, block }
    }
    yield { type: 'usage', usage: { inputTokens: 1, outputTokens: 1 } }
    yield { type: 'finish', reason: { kind: calls.length > 0 ? 'tool-calls' : 'stop' } }
  }

  #describe(provider: string, id: string): LlmModelInfo {
    const inputModalities = this.#models[id]
    return { provider, id, name: id, ...(inputModalities !== undefined && { inputModalities }) }
  }
}
