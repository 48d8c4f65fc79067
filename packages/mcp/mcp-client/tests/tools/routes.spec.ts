import { startAgentHost } from '@dsh-mcp/host'
import { describe, expect, it, onTestFinished } from 'vitest'
import { modelObstacle, routeOf } from '../../src/tools/routes.ts'
import { host } from '../support.ts'

const models = { vision: ['text', 'image'], text: ['text'], undeclared: undefined } as const
const { signal } = new AbortController()

/** A caller that is nothing but its model. */
function agentOn(model: string | undefined, provider: string | undefined = 'scripted') {
  return {
    options: { ...(model !== undefined && { model }), ...(provider !== undefined && { provider }) },
  } as never
}

describe('the model that reads a result', () => {
  it('is the one of the current request, also when the agent has another', async () => {
    const app = await startAgentHost({ llm: models })
    onTestFinished(() => app.dispose())
    const { agent, turn } = await app.agent({
      model: 'text',
      setup: (ctx) => {
        ctx.on('agent/request', async (_payload, next) => ({ ...(await next()), model: 'vision' }))
      },
    })
    expect(routeOf(agent)).toEqual({ provider: 'scripted', model: 'text' })
    await turn('hello')
    expect(routeOf(agent)).toEqual({ provider: 'scripted', model: 'vision' })
    expect(await modelObstacle(app.ctx, { agent, signal })).toBeUndefined()
  })

  it('is unknown without an agent, for a mere scope, and for an agent without a provider or a model', () => {
    expect(routeOf(undefined)).toBeUndefined()
    expect(routeOf({})).toBeUndefined()
    expect(routeOf(agentOn(undefined))).toBeUndefined()
    expect(routeOf(agentOn('vision', ''))).toBeUndefined()
  })
})

describe('an image for the model', () => {
  it.each([
    ['vision', undefined],
    ['text', 'the current model does not take images'],
    ['undeclared', 'the current model does not say that it takes images'],
  ])('that is %j meets the obstacle: %s', async (model, obstacle) => {
    const { ctx } = await host({ llm: models })
    expect(await modelObstacle(ctx, { agent: agentOn(model), signal })).toBe(obstacle)
  })

  it('meets an obstacle when nobody knows the provider', async () => {
    const { ctx } = await host({ llm: models })
    const obstacle = await modelObstacle(ctx, { agent: agentOn('vision', 'another'), signal })
    expect(obstacle).toBe('nothing is known about the current model')
  })

  it('meets an obstacle when there is no model service, or no agent', async () => {
    const unknown = 'it is not known which model reads this'
    expect(await modelObstacle((await host()).ctx, { agent: agentOn('vision'), signal })).toBe(unknown)
    expect(await modelObstacle((await host({ llm: models })).ctx, { signal })).toBe(unknown)
  })
})
