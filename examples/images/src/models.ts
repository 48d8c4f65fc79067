/**
 * Two models without a provider behind them: they only declare what they take. `example/sees` takes text and
 * images, `example/reads` takes text.
 */
import type { Context } from '@deepseek-ai/cordis'
import { LlmAdapter, type LlmModelInfo, type StreamChunk } from '@deepseek-ai/dsh-llm'

const MODELS: Readonly<Record<string, LlmModelInfo['inputModalities']>> = {
  sees: ['text', 'image'],
  reads: ['text'],
}

class ExampleModels extends LlmAdapter {
  override async listModels(provider: string): Promise<LlmModelInfo[]> {
    return Object.keys(MODELS).map((id) => describe(provider, id))
  }

  override async resolveModel(provider: string, model: string): Promise<LlmModelInfo> {
    if (!Object.hasOwn(MODELS, model)) throw new Error(`there is no model ${provider}/${model}`)
    return describe(provider, model)
  }

  // oxlint-disable-next-line require-yield -- these models answer nothing
  override async *stream(): AsyncGenerator<StreamChunk> {
    throw new Error('the models of this example only say what they take')
  }
}

function describe(provider: string, id: string): LlmModelInfo {
  const inputModalities = MODELS[id]
  return { provider, id, name: id, ...(inputModalities !== undefined && { inputModalities }) }
}

/** The plugin's name. */
export const name = 'example-models'

/** The model service. */
export const inject = ['llm']

/** Register the models. */
export async function apply(ctx: Context): Promise<void> {
  ctx.llm.registerAdapter(['example'], new ExampleModels())
}
