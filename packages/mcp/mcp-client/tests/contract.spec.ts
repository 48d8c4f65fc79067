/**
 * The promises to the host, whatever a server lists, announces, refuses and breaks: the old catalog or the new one
 * and never a mix, names that depend on nothing but the tool, and nothing left at the end.
 */
import { visibleText } from '@deepseek-ai/dsh-mcp-text'
import type { FixtureTool, InMemoryServer, Json } from '@dsh-mcp/fixtures'
import type { TestHost } from '@dsh-mcp/host'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { resolveConfig } from '../src/config/resolve.ts'
import { Entry } from '../src/entry.ts'
import { createMcpToolDefinition, publicToolName } from '../src/index.ts'
import { startHost } from '@dsh-mcp/host'
import { ERAS } from './http-support.ts'
import { memoryServer, MemoryTransport } from './support.ts'

const RUNS = 25

/** For a machine under load, in ms; never a measurement. */
const PATIENCE = 120_000

/** Names that mean something, look alike, hide something, or are long. */
const name = fc.oneof(
  fc.constantFrom('a', 'b', 'c', '__proto__', 'constructor', 'a.b', 'a b', 'a_b', 'ü', '', 'x'.repeat(100)),
  fc.string({ maxLength: 8 }),
  fc.string({ maxLength: 4, unit: 'binary' }),
)
const schema = fc.oneof(
  fc.constant({ type: 'object' }),
  fc.constant({ type: 'object', properties: { a: { type: 'string', description: 'hidden \u{202e}' } } }),
  fc.constant(JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}')),
  fc.constant({ type: 'object', properties: { a: { enum: ['\u{200b}'] } } }),
) as fc.Arbitrary<Json>
const tool = fc.record({
  name,
  description: fc.string({ maxLength: 6 }),
  inputSchema: schema,
}) as unknown as fc.Arbitrary<FixtureTool>
/** Mostly valid lists; some have a name twice. */
const tools = fc.oneof(
  { weight: 4, arbitrary: fc.uniqueArray(tool, { maxLength: 5, selector: (each) => each.name }) },
  { weight: 1, arbitrary: fc.array(tool, { minLength: 2, maxLength: 5 }) },
)

type Step =
  | { do: 'change'; tools: FixtureTool[]; isAnnounced: boolean }
  | { do: 'announce'; count: number }
  | { do: 'fail lists'; count: number }
  | { do: 'crash' }
  | { do: 'call'; index: number }
  | { do: 'wait'; ms: number }
  | { do: 'take a name'; name: string }
  | { do: 'give names back' }

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('change' as const), tools, isAnnounced: fc.boolean() }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('announce' as const), count: fc.integer({ min: 1, max: 50 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('fail lists' as const), count: fc.integer({ min: 1, max: 3 }) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('crash' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('call' as const), index: fc.nat(4) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('take a name' as const), name }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('give names back' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 400 }) }),
  },
)

/** A catalog as anybody can see it: public names with their descriptions, in an order that means nothing. */
type Catalog = string

function asCatalog(entries: readonly (readonly [name: string, description: string])[]): Catalog {
  return JSON.stringify(entries.map((entry) => JSON.stringify(entry)).toSorted())
}

/** How the tools of somebody else describe themselves, who takes names that are the server's. */
const FOREIGN = 'of somebody else'

/** The catalog that schemas show, of the registry or of a prompt. */
function shown(schemas: readonly { name: string; description: string }[]): Catalog {
  const own = schemas.filter(({ description }) => description !== FOREIGN)
  return asCatalog(own.map((each) => [each.name, each.description]))
}

/** The catalog that a list stands for, or nothing when the list is invalid. */
function catalogOf(list: readonly FixtureTool[]): Catalog | undefined {
  const entries = list.map((each): [string, string] => [
    publicToolName('one', each.name),
    visibleText(String(each['description'] ?? '')),
  ])
  const isUnique = new Set(entries.map(([publicName]) => publicName)).size === entries.length
  return isUnique ? asCatalog(entries) : undefined
}

async function perform(at: Step, server: InMemoryServer, on: TestHost, taken: (() => void)[]): Promise<void> {
  const { toolbox } = server
  switch (at.do) {
    case 'change':
      if (at.isAnnounced) toolbox.replaceTools(at.tools)
      else toolbox.configure({ tools: at.tools })
      return
    case 'announce':
      return toolbox.notifyToolListChanged(at.count)
    case 'fail lists':
      return toolbox.configure({ failList: at.count })
    case 'crash':
      return await server.closeConnections()
    case 'call': {
      const called = on.toolNames()[at.index]
      if (called !== undefined) void on.call(called, {})
      return
    }
    case 'take a name': {
      const publicName = publicToolName('one', at.name)
      if (on.toolNames().includes(publicName)) return
      const options = { name: publicName, description: FOREIGN, inputSchema: {}, call: async () => ({}) }
      taken.push(on.ctx.tools.register(createMcpToolDefinition(on.ctx, options)))
      return
    }
    case 'give names back':
      for (const giveBack of taken.splice(0)) giveBack()
      return
    case 'wait':
      await vi.advanceTimersByTimeAsync(at.ms)
  }
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

describe.each(ERAS)('whatever a %s server does', (era) => {
  it(
    'the registry and the prompt hold a catalog of its, whole, and in the end the last one',
    async () => {
      await fc.assert(
        fc.asyncProperty(tools, fc.array(step, { maxLength: 12 }), async (first, steps) => {
          const on = await startHost()
          const server = await memoryServer({ era, tools: first, instructions: 'Be {{careful}}.' })
          const possible = new Set<Catalog | undefined>(['[]', catalogOf(first)])
          const mixed: Catalog[] = []
          const look = () => {
            const catalog = shown(on.schemas())
            if (!possible.has(catalog)) mixed.push(catalog)
          }
          on.ctx.on('tools/change', () => queueMicrotask(look))
          const config = resolveConfig({
            serverName: 'one',
            transport: 'stdio',
            command: 'not used',
            reconnect: { initialDelayMs: 10, maxDelayMs: 100, maxAttempts: 1000 },
          })
          const entry = new Entry(on.ctx, config, () => new MemoryTransport(server))
          const taken: (() => void)[] = []
          const starting = entry.start()
          await vi.advanceTimersByTimeAsync(0)
          for (const each of steps) {
            if (each.do === 'change') possible.add(catalogOf(each.tools))
            await perform(each, server, on, taken)
            look()
            const prompted = shown((await on.prompt()).tools)
            if (!possible.has(prompted)) mixed.push(prompted)
          }
          // A valid list, an announcement, and time: then it is there.
          const last: FixtureTool[] = [
            { name: 'last', description: 'the last', inputSchema: { type: 'object' } },
          ]
          possible.add(catalogOf(last))
          for (const giveBack of taken) giveBack()
          server.toolbox.configure({ failList: 0 })
          server.toolbox.replaceTools(last)
          await vi.advanceTimersByTimeAsync(20_000)
          await starting
          expect(mixed).toEqual([])
          expect(shown(on.schemas())).toBe(catalogOf(last))
          expect((await on.prompt()).text).toContain('Be {{careful}}.')
          await entry.dispose()
          expect(on.toolNames()).toEqual([])
          expect((await on.prompt()).text).toBe('')
          expect(vi.getTimerCount()).toBe(0)
          await on.dispose()
          await server.close()
        }),
        { numRuns: RUNS },
      )
    },
    PATIENCE,
  )

  it(
    'its tools have the same names, texts and schemas in every process',
    async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.uniqueArray(tool, { maxLength: 6, selector: (each) => publicToolName('one', each.name) }),
          async (list) => {
            const prompts = new Set<string>()
            for (const order of [list, list.toReversed()]) {
              const on = await startHost()
              const server = await memoryServer({ era, tools: order })
              const config = resolveConfig({ serverName: 'one', transport: 'stdio', command: 'not used' })
              const entry = new Entry(on.ctx, config, () => new MemoryTransport(server))
              await entry.start()
              const { tools: assembled } = await on.prompt()
              prompts.add(JSON.stringify(assembled))
              for (const { name: publicName } of assembled)
                expect(publicName).toMatch(/^mcp__one__[A-Za-z0-9_-]*$/u)
              await entry.dispose()
              await on.dispose()
              await server.close()
            }
            expect(prompts.size).toBe(1)
          },
        ),
        { numRuns: RUNS },
      )
    },
    PATIENCE,
  )
})
