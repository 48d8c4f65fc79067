import type { ContentBlock } from '@deepseek-ai/dsh-llm'
import { describe, expect, it } from 'vitest'
import { eventually } from '../src/index.ts'
import { forever, greet, openAgentHost } from './support.ts'

const textOf = (blocks: readonly ContentBlock[]) =>
  blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')

describe('an agent host', () => {
  it('runs a whole turn: request, tool calls, results, answer', async () => {
    const host = await openAgentHost()
    host.ctx.tools.register(greet())
    host.ctx.systemPrompt.section({ name: 'hint', order: 1, text: 'Be kind.' })
    const calls = [
      { name: 'greet', arguments: { who: 'you' }, id: 'one' },
      { name: 'greet', arguments: { who: 'nobody' }, id: 'two' },
    ]
    host.llm.script({ text: 'let me see', calls }, { text: 'all done' })
    const agent = await host.agent()
    await agent.turn('please greet')

    expect(host.llm.requests).toHaveLength(2)
    const [first, second] = host.llm.requests
    expect(first?.system).toContain('Be kind.')
    expect(first?.tools?.map(({ name }) => name)).toEqual(['greet'])
    expect(first?.model).toBe('text')
    expect(JSON.stringify(first?.messages)).toContain('please greet')
    expect(JSON.stringify(second?.messages)).toContain('hello you')

    expect(agent.events('tool/call').map(({ data }) => data.callId)).toEqual(['one', 'two'])
    const results = agent.events('tool/result').map(({ data }) => data.message.content[0])
    expect(results.map(({ isError }) => isError)).toEqual([false, true])
    expect(textOf(results[0]?.content ?? [])).toBe('hello you\nbye')
    expect(agent.events('assistant/message').map(({ data }) => textOf(data.message.content))).toEqual([
      'let me see',
      'all done',
    ])
  })

  it('gives each agent its own scope', async () => {
    const host = await openAgentHost()
    const one = await host.agent({ setup: (ctx) => void ctx.tools.register(greet('mine')) })
    const two = await host.agent({ model: 'vision' })
    expect(host.toolNames(one.agent)).toEqual(['mine'])
    expect(host.toolNames(two.agent)).toEqual([])
    expect(two.agent.options).toMatchObject({ model: 'vision' })
    expect(await host.call('mine', { who: 'x' }, { agent: one.agent })).toMatchObject({ isError: false })
  })

  it('answers from a function of the request', async () => {
    const host = await openAgentHost()
    host.llm.script(({ messages }) => ({ text: `${messages.length} messages` }))
    const agent = await host.agent()
    await agent.turn('count')
    const [message] = agent.events('assistant/message')
    expect(textOf(message?.data.message.content ?? [])).toMatch(/^\d+ messages$/u)
  })

  it('cancels the running tool with the turn', async () => {
    const host = await openAgentHost()
    host.ctx.tools.register(forever())
    host.llm.script({ calls: [{ name: 'forever' }] })
    const agent = await host.agent()
    agent.submit('go')
    await eventually(() => expect(agent.events('tool/call')).toHaveLength(1))
    agent.agent.cancel({ kind: 'user' })
    await agent.agent.whenIdle()
    const [result] = agent.events('tool/result')
    expect(result?.data.message.content[0].isError).toBe(true)
  })

  it('asks for approval when a policy wants it', async () => {
    const host = await openAgentHost({ approval: true })
    host.ctx.tools.register(greet())
    host.ctx.on('tools/pre-execute', async (execution, next) =>
      execution.name === 'greet' ? { kind: 'ask' } : await next(),
    )
    const asked: string[] = []
    host.ctx.on('approval/request', async ({ toolName }) => {
      asked.push(toolName)
      return 'allowed-once'
    })
    host.llm.script({ calls: [{ name: 'greet', arguments: { who: 'you' } }] })
    const agent = await host.agent()
    await agent.turn('please greet')
    expect(asked).toEqual(['greet'])
    expect(agent.events('tool/result').map(({ data }) => data.message.content[0].isError)).toEqual([false])
  })

  it('ends its agents when it is disposed', async () => {
    const host = await openAgentHost()
    const { agent } = await host.agent()
    let disposed = 0
    host.ctx.on('agent/disposed', () => void disposed++)
    agent.ctx.effect(() => () => void disposed++)
    await host.dispose()
    expect(disposed).toBeGreaterThan(0)
  })
})
