/** Whether the model that will read a result takes images, as far as the host knows. */
import type { Context } from '@deepseek-ai/cordis'
import type { Agent } from '@deepseek-ai/dsh-agent'
import type {} from '@deepseek-ai/dsh-llm'
import type { ToolExecution } from '@deepseek-ai/dsh-tools'

/** A model, as a request names it. */
export interface ModelRoute {
  readonly provider: string
  readonly model: string
}

/** What of an agent names its model. A caller that is a mere registration scope has none of it. */
type RouteHolder = Partial<Pick<Agent, 'options' | 'session'>>

/**
 * The exact model of a call: that of the agent's current request, else the agent's own.
 *
 * @param agent - the calling agent, if there is one.
 */
export function routeOf(agent: RouteHolder | undefined): ModelRoute | undefined {
  const { provider, model } = agent?.session?.requestHeader()?.config ?? agent?.options ?? {}
  return provider && model ? { provider, model } : undefined
}

/**
 * Why an image would not reach the model that reads a call's result, for the model; `undefined` when it would.
 *
 * @param ctx - where the model service is looked up.
 */
export async function modelObstacle(
  ctx: Context,
  exec: Pick<ToolExecution, 'agent' | 'signal'>,
): Promise<string | undefined> {
  const llm = ctx.get('llm')
  const route = routeOf(exec.agent)
  if (llm === undefined || route === undefined) return 'it is not known which model reads this'
  try {
    const { inputModalities } = await llm.resolveModelInfo(route.provider, route.model, exec.signal)
    if (inputModalities === undefined) return 'the current model does not say that it takes images'
    return inputModalities.includes('image') ? undefined : 'the current model does not take images'
  } catch {
    return 'nothing is known about the current model'
  }
}
