import type { CallToolResult, JSONRPCMessage } from '@modelcontextprotocol/client'
import { describe, expect, it } from 'vitest'
import { holdContent, releaseContent } from '../../src/tools/content-hold.ts'

const CONTENT = [{ type: 'text', text: 'hi' }, { type: 'hologram' }]

function answer(result: unknown): JSONRPCMessage & { result: CallToolResult } {
  return { jsonrpc: '2.0', id: 1, result } as never
}

describe('content on its way past the SDK', () => {
  it('is not in the message, and not in any JSON of it', () => {
    const message = answer({ content: CONTENT, isError: true, _meta: { a: 1 } })
    holdContent(message)
    expect(message.result).toMatchObject({ content: [], isError: true, _meta: { a: 1 } })
    expect(JSON.stringify(message)).not.toContain('hologram')
  })

  it('is back afterwards, the same objects', () => {
    const message = answer({ content: CONTENT, _meta: { a: 1 } })
    holdContent(message)
    const released = releaseContent(message.result)
    expect(released.content).toBe(CONTENT)
    expect(released['_meta']).toEqual({ a: 1 })
  })

  it('does not change what the server holds', () => {
    const result = { content: CONTENT }
    holdContent(answer(result))
    expect(result).toEqual({ content: CONTENT })
  })

  it.each<[string, JSONRPCMessage]>([
    ['a request', { jsonrpc: '2.0', id: 1, method: 'ping' }],
    ['an error', { jsonrpc: '2.0', id: 1, error: { code: 1, message: 'no' } }],
    ['a result without content', answer({ tools: [] })],
    ['content that is no list', answer({ content: 'x' })],
    ['a _meta that is none', answer({ content: CONTENT, _meta: 'x' })],
  ])('leaves alone: %s', (_, message) => {
    const before = structuredClone(message)
    holdContent(message)
    expect(message).toEqual(before)
  })

  it.each([[{}], [{ toolResult: 'hi' }], [{ isError: true, _meta: { a: 1 } }]])(
    'is still missing afterwards where the server sent none: %j',
    (result) => {
      const message = answer(result)
      holdContent(message)
      expect(message.result.content).toEqual([])
      expect(releaseContent(message.result)).toMatchObject({ ...result, content: undefined })
    },
  )

  it('cannot be put in by a server', () => {
    const message = answer({ content: CONTENT, _meta: { 'dsh-mcp-client/content': { a: 1 } } })
    holdContent(message)
    expect(releaseContent(message.result).content).toBe(CONTENT)
    for (const forged of [[{ type: 'text', text: 'forged' }], { a: 1 }]) {
      const unheld = { content: [], _meta: { 'dsh-mcp-client/content': forged } }
      expect(releaseContent(unheld).content).toBeUndefined()
    }
  })

  it('is none where none was held: the SDK makes one up for the result of another request', () => {
    expect(releaseContent({ content: [] }).content).toBeUndefined()
  })
})
