import type { ContentBlock } from '@deepseek-ai/dsh-llm'
import { describe, expect, it, vi } from 'vitest'
import { agentHost, forever, greet } from './support.ts'

const textOf = (blocks: readonly ContentBlock[]) =>
  blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')

describe('an agent host', () => {
  it('runs a whole turn: request, tool calls, results, answer', async () => {
    const it = await agentHost()
    it.ctx.tools.register(greet())
    it.ctx.systemPrompt.section({ name: 'hint', order: 1, text: 'Be kind.' })
    const calls = [
      { name: 'greet', arguments: { who: 'you' }, id: 'one' },
      { name: 'greet', arguments: { who: 'nobody' }, id: 'two' },
    ]
    it.llm.script({ text: 'let me see', calls }, { text: 'all done' })
    const agent = await it.agent()
    await agent.turn('please greet')

    expect(it.llm.requests).toHaveLength(2)
    const [first, second] = it.llm.requests
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
    const it = await agentHost()
    const one = await it.agent({ setup: (ctx) => void ctx.tools.register(greet('mine')) })
    const two = await it.agent({ model: 'vision' })
    expect(it.toolNames(one.agent)).toEqual(['mine'])
    expect(it.toolNames(two.agent)).toEqual([])
    expect(two.agent.options).toMatchObject({ model: 'vision' })
    expect(await it.call('mine', { who: 'x' }, { agent: one.agent })).toMatchObject({ isError: false })
  })

  it('answers from a function of the request', async () => {
    const it = await agentHost()
    it.llm.script(({ messages }) => ({ text: `${messages.length} messages` }))
    const agent = await it.agent()
    await agent.turn('count')
    const [message] = agent.events('assistant/message')
    expect(textOf(message?.data.message.content ?? [])).toMatch(/^\d+ messages$/u)
  })

  it('cancels the running tool with the turn', async () => {
    const it = await agentHost()
    it.ctx.tools.register(forever())
    it.llm.script({ calls: [{ name: 'forever' }] })
    const agent = await it.agent()
    agent.submit('go')
    await vi.waitFor(() => expect(agent.events('tool/call')).toHaveLength(1))
    agent.agent.cancel({ kind: 'user' })
    await agent.agent.whenIdle()
    const [result] = agent.events('tool/result')
    expect(result?.data.message.content[0].isError).toBe(true)
  })

  it('asks for approval when a policy wants it', async () => {
    const it = await agentHost({ approval: true })
    it.ctx.tools.register(greet())
    it.ctx.on('tools/pre-execute', async (execution, next) =>
      execution.name === 'greet' ? { kind: 'ask' } : await next(),
    )
    const asked: string[] = []
    it.ctx.on('approval/request', async ({ toolName }) => {
      asked.push(toolName)
      return 'allowed-once'
    })
    it.llm.script({ calls: [{ name: 'greet', arguments: { who: 'you' } }] })
    const agent = await it.agent()
    await agent.turn('please greet')
    expect(asked).toEqual(['greet'])
    expect(agent.events('tool/result').map(({ data }) => data.message.content[0].isError)).toEqual([false])
  })

  it('ends its agents when it is disposed', async () => {
    const it = await agentHost()
    const { agent } = await it.agent()
    let disposed = 0
    it.ctx.on('agent/disposed', () => void disposed++)
    agent.ctx.effect(() => () => void disposed++)
    await it.dispose()
    expect(disposed).toBeGreaterThan(0)
  })
})
