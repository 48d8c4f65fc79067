import type { ToolDefinition } from '@deepseek-ai/dsh-tools'
import type { Tool } from '@modelcontextprotocol/client'
import { describe, expect, it, vi } from 'vitest'
import { createMcpToolDefinition } from '../../src/index.ts'
import { buildCatalog } from '../../src/tools/catalog.ts'
import { ToolRegistrations } from '../../src/tools/registrations.ts'
import { host } from '../support.ts'

const tool = (name: string, more: Partial<Tool> = {}): Tool => ({
  name,
  inputSchema: { type: 'object' },
  ...more,
})

/** An entry's registrations in a real registry. */
async function registry(define?: (definition: ToolDefinition) => ToolDefinition) {
  const app = await host()
  const registrations = new ToolRegistrations(app.ctx, (name, { description, inputSchema }) => {
    const definition = createMcpToolDefinition(app.ctx, {
      name,
      description,
      inputSchema,
      call: async () => ({}),
    })
    return define === undefined ? definition : define(definition)
  })
  const apply = (...tools: Tool[]) => registrations.apply(buildCatalog('s', tools, String))
  /** The definitions in the registry, by name; a registration that was kept has the same one. */
  const definitions = () => Object.fromEntries(app.toolNames().map((name) => [name, app.ctx.tools.get(name)]))
  const changes = () => app.toolChanges
  return {
    ctx: app.ctx,
    logs: app.logs,
    registrations,
    apply,
    definitions,
    changes,
    names: () => app.toolNames(),
  }
}

describe('a step to the next catalog', () => {
  it('registers every tool of a first one, in the order of the list', async () => {
    const { apply, names, registrations } = await registry()
    expect(apply(tool('b'), tool('a'))).toEqual({ added: 2, replaced: 0, removed: 0 })
    expect(names()).toEqual(['mcp__s__b', 'mcp__s__a'])
    expect(registrations.size).toBe(2)
  })

  it('to an equal one touches nothing', async () => {
    const { apply, changes, definitions } = await registry()
    const list = () => [
      tool('a', { description: 'A', annotations: { readOnlyHint: true } }),
      tool('b', {
        // A field of this name has made equal schemas look different.
        inputSchema: { type: 'object', properties: { constructor: { type: 'string' }, __proto__x: {} } },
        outputSchema: { type: 'object' },
        execution: { taskSupport: 'optional' },
      }),
    ]
    apply(...list())
    const [before, count] = [definitions(), changes()]
    expect(apply(...list())).toEqual({ added: 0, replaced: 0, removed: 0 })
    expect(changes()).toBe(count)
    expect(definitions()).toEqual(before)
  })

  it('adds what is new, replaces what changed, removes what is gone, and keeps the rest', async () => {
    const { apply, changes, definitions } = await registry()
    apply(tool('keep'), tool('change', { description: 'old' }), tool('go'))
    const [before, count] = [definitions(), changes()]
    expect(apply(tool('keep'), tool('change', { description: 'new' }), tool('come'))).toEqual({
      added: 1,
      replaced: 1,
      removed: 1,
    })
    const after = definitions()
    expect(Object.keys(after).toSorted()).toEqual(['mcp__s__change', 'mcp__s__come', 'mcp__s__keep'])
    expect(after['mcp__s__keep']).toBe(before['mcp__s__keep'])
    expect(after['mcp__s__change']?.description).toBe('new')
    // One for each tool that came or went, two for the one that was replaced.
    expect(changes() - count).toBe(4)
  })

  it.each<[string, Partial<Tool>, Partial<Tool>]>([
    ['description', { description: 'a' }, { description: 'b' }],
    ['input schema', {}, { inputSchema: { type: 'object', required: ['a'] } }],
    [
      'output schema',
      { outputSchema: { type: 'object' } },
      { outputSchema: { type: 'object', required: [] } },
    ],
    ['annotations', { annotations: { readOnlyHint: true } }, { annotations: { readOnlyHint: false } }],
    ['execution', { execution: { taskSupport: 'required' } }, { execution: { taskSupport: 'optional' } }],
  ])('takes a changed %s for a change', async (_, before, after) => {
    const { apply } = await registry()
    apply(tool('a', before))
    expect(apply(tool('a', after))).toMatchObject({ replaced: 1 })
  })

  it('takes another order of fields for a change, because the model sees it', async () => {
    const { apply, ctx } = await registry()
    const schema = (...names: string[]) => ({
      inputSchema: {
        type: 'object' as const,
        properties: Object.fromEntries(names.map((name) => [name, {}])),
      },
    })
    apply(tool('a', schema('x', 'y')))
    expect(apply(tool('a', schema('y', 'x')))).toEqual({ added: 0, replaced: 1, removed: 0 })
    expect(JSON.stringify(ctx.tools.schemas()[0]!.parameters)).toBe(
      JSON.stringify(schema('y', 'x').inputSchema),
    )
  })

  it('takes fields that nobody sees for no change', async () => {
    const { apply } = await registry()
    apply(tool('a', { _meta: { build: 1 }, title: 'A', icons: [] }))
    expect(apply(tool('a', { _meta: { build: 2 }, title: 'B' }))).toMatchObject({ replaced: 0 })
  })

  it('is one for whoever awaits: nobody sees a mix', async () => {
    const { apply, ctx, names } = await registry()
    apply(tool('a'), tool('b'))
    const seen: string[][] = []
    const unwatch = ctx.on('tools/change', () => {
      queueMicrotask(() => seen.push(names()))
    })
    apply(tool('c'), tool('d'))
    await Promise.resolve()
    unwatch()
    expect(new Set(seen.map(String))).toEqual(new Set(['mcp__s__c,mcp__s__d']))
  })

  it('can be to none', async () => {
    const { apply, names, registrations } = await registry()
    apply(tool('a'), tool('b'))
    registrations.clear()
    expect(names()).toEqual([])
    expect(registrations.size).toBe(0)
  })
})

describe('a step that is refused', () => {
  it('because of a name that somebody else has leaves the previous catalog whole', async () => {
    const { apply, ctx, definitions, names, registrations } = await registry()
    apply(tool('a'), tool('b', { description: 'old' }))
    const foreign = createMcpToolDefinition(ctx, {
      name: 'mcp__s__taken',
      inputSchema: {},
      call: async () => ({}),
    })
    ctx.tools.register(foreign)
    const before = definitions()
    const seen: string[][] = []
    ctx.on('tools/change', () => void seen.push(names()))
    const refused = () => apply(tool('b', { description: 'new' }), tool('new'), tool('taken'))
    expect(refused).toThrow(
      'another plugin or MCP server has a tool of the name "mcp__s__taken"; give this entry or the other one another serverName',
    )
    expect(definitions()).toEqual(before)
    expect(definitions()['mcp__s__b']).toBe(before['mcp__s__b'])
    expect(registrations.size).toBe(2)
    // What was there was there all the time.
    expect(seen.filter((list) => !list.includes('mcp__s__a') || !list.includes('mcp__s__b'))).toEqual([])
    expect(seen.length).toBeGreaterThan(0)
  })

  it('after some tools were replaced puts them back', async () => {
    const { apply, definitions, names } = await registry((definition) =>
      definition.description === 'bad' ? { ...definition, timeoutMs: -1 } : definition,
    )
    apply(tool('a', { description: 'old a' }), tool('b', { description: 'old b' }), tool('c'))
    const before = definitions()
    const refused = () =>
      apply(tool('a', { description: 'new a' }), tool('b', { description: 'bad' }), tool('d'))
    expect(refused).toThrow('timeoutMs must be a positive finite number')
    expect(definitions()).toEqual(before)
    expect(names().toSorted()).toEqual(['mcp__s__a', 'mcp__s__b', 'mcp__s__c'])
    // What was put back can be replaced and removed like before.
    expect(apply(tool('a', { description: 'new a' }))).toEqual({ added: 0, replaced: 1, removed: 2 })
    expect(names()).toEqual(['mcp__s__a'])
  })

  it('the first time registers nothing', async () => {
    const { apply, names, registrations } = await registry((definition) =>
      definition.name === 'mcp__s__b' ? { ...definition, timeoutMs: -1 } : definition,
    )
    expect(() => apply(tool('a'), tool('b'))).toThrow('timeoutMs')
    expect(names()).toEqual([])
    expect(registrations.size).toBe(0)
  })
})

it('an observer that throws stops no removal, and is reported', async () => {
  const { apply, ctx, logs, names } = await registry()
  apply(tool('a'), tool('b'))
  const unregister = vi.fn()
  ctx.on('tools/change', () => {
    unregister()
    throw new Error('a bad observer')
  })
  expect(apply()).toEqual({ added: 0, replaced: 0, removed: 2 })
  expect(names()).toEqual([])
  expect(unregister).toHaveBeenCalledTimes(2)
  expect(logs.find({ level: 'warn', text: 'a bad observer' }).length).toBeGreaterThan(0)
})
