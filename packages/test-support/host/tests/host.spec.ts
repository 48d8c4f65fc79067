import { existsSync } from 'node:fs'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Context } from '@deepseek-ai/cordis'
import { describe, expect, it, vi } from 'vitest'
import {
  descendants,
  growth,
  holdings,
  isAlive,
  SCRIPTED_PROVIDER,
  startHost,
  trackTimers,
} from '../src/index.ts'
import type { McpStatus, TestHost } from '../src/index.ts'
import { forever, greet, host } from './support.ts'

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** Emit a status as mcp-client does. */
function emitStatus({ ctx }: TestHost, status: McpStatus): void {
  const bus = ctx as unknown as { emit(name: string, status: McpStatus): void }
  bus.emit('mcp-client/status', status)
}

describe('calling tools', () => {
  it('runs the real pipeline and returns its result', async () => {
    const it = await host()
    it.ctx.tools.register(greet())
    const result = await it.call('greet', { who: 'you' })
    expect(result).toMatchObject({ isError: false, value: { greeting: 'hello you' } })
    expect(it.text(result)).toBe('hello you\nbye')
  })

  it('returns failures as results', async () => {
    const it = await host()
    it.ctx.tools.register(greet())
    const failed = await it.call('greet', { who: 'nobody' })
    expect(failed).toMatchObject({ isError: true, error: { message: 'there is nobody' } })
    const unknown = await it.call('nothing')
    expect(unknown).toMatchObject({ isError: true, error: { info: { code: 'UNKNOWN_TOOL' } } })
  })

  it('gives every call its own id', async () => {
    const it = await host()
    const ids: string[] = []
    it.ctx.tools.register(greet())
    it.ctx.on('tools/result', (execution) => void ids.push(execution.callId))
    await it.call('greet', { who: 'a' })
    await it.call('greet', { who: 'b' })
    expect(new Set(ids).size).toBe(2)
  })

  it('cancels a call', async () => {
    const it = await host()
    it.ctx.tools.register(forever())
    const abort = new AbortController()
    const call = it.call('forever', {}, { signal: abort.signal })
    abort.abort()
    expect(await call).toMatchObject({
      isError: true,
      error: { info: { code: expect.stringContaining('ABORTED') } },
    })
  })

  it('counts tools/change', async () => {
    const it = await host()
    expect(it.toolChanges).toBe(0)
    const unregister = it.ctx.tools.register(greet())
    expect(it.toolChanges).toBe(1)
    unregister()
    expect(it.toolChanges).toBe(2)
  })
})

describe('scopes', () => {
  it('isolate their tools and prompt sections', async () => {
    const it = await host()
    it.ctx.tools.register(greet('shared'))
    const [one, two] = [it.scope('one'), it.scope('two')]
    one.ctx.tools.register(greet('mine'))
    one.ctx.systemPrompt.section({ name: 'mine', order: 1, text: 'only for one' })
    expect(it.toolNames()).toEqual(['shared'])
    expect(it.toolNames(one.key)).toEqual(['shared', 'mine'])
    expect(it.toolNames(two.key)).toEqual(['shared'])
    expect((await it.prompt(one.key)).text).toBe('only for one')
    expect((await it.prompt(two.key)).text).toBe('')
    expect(await it.call('mine', { who: 'x' }, { agent: one.key })).toMatchObject({ isError: false })
    expect(await it.call('mine', { who: 'x' }, { agent: two.key })).toMatchObject({ isError: true })
  })

  it('inherit from a parent scope', async () => {
    const it = await host()
    const parent = it.scope('parent')
    parent.ctx.tools.register(greet('inherited'))
    const child = it.scope('child', parent.key)
    expect(it.toolNames(child.key)).toEqual(['inherited'])
  })

  it('take their registrations and plugins with them', async () => {
    const it = await host()
    const scope = it.scope()
    let disposed = false
    const plugin = {
      name: 'scoped',
      inject: ['tools'],
      apply: async (ctx: Context) => {
        ctx.tools.register(greet('scoped'))
        ctx.effect(() => () => (disposed = true))
      },
    }
    await it.mount(plugin, {}, scope.ctx)
    expect(it.toolNames(scope.key)).toEqual(['scoped'])
    expect(it.toolNames()).toEqual([])
    await scope.dispose()
    expect(disposed).toBe(true)
    expect(it.toolNames(scope.key)).toEqual([])
  })
})

describe('the prompt', () => {
  it('holds what was registered, rendered as the model gets it', async () => {
    const it = await host()
    it.ctx.tools.register(greet())
    it.ctx.systemPrompt.section({ name: 'b', order: 20, text: 'second {{thing}}' })
    it.ctx.systemPrompt.section({ name: 'a', order: 10, text: 'first' })
    it.ctx.systemPrompt.variable('thing', () => '{{literally}}')
    it.ctx.systemPrompt.context({ name: 'c', order: 1, text: 'now' })
    const prompt = await it.prompt()
    expect(prompt.text).toBe('first\n\nsecond {{literally}}')
    expect(prompt.sections).toEqual([
      { name: 'a', text: 'first' },
      { name: 'b', text: 'second {{thing}}' },
    ])
    expect(prompt.context).toContain('now')
    expect(prompt.tools.map(({ name }) => name)).toEqual(['greet'])
  })
})

describe('code mode', () => {
  it.each(['code', 'both'] as const)('%s: a program calls a tool', async (mode) => {
    const it = await host({ mode })
    it.ctx.tools.register(greet())
    const code = `const { greeting } = await tools.greet({ who: 'program' }); return greeting`
    const result = await it.call('run_code', { code, description: 'greets' })
    expect(it.text(result)).toContain('hello program')
    const { tools, text } = await it.prompt()
    expect(tools.map(({ name }) => name)).toEqual(mode === 'code' ? ['run_code'] : ['greet', 'run_code'])
    expect(text).toContain('greet')
  })

  it('code: a direct call is denied', async () => {
    const it = await host({ mode: 'code' })
    it.ctx.tools.register(greet())
    expect(await it.call('greet', { who: 'you' })).toMatchObject({ isError: true })
  })
})

describe('mounting', () => {
  it('waits for the plugin and passes its configuration', async () => {
    const it = await host()
    let seen: unknown
    const plugin = {
      name: 'slow',
      apply: async (_ctx: Context, config: unknown) => {
        await new Promise((resolve) => setTimeout(resolve, 5))
        seen = config
      },
    }
    const fiber = await it.mount(plugin, { a: 1 })
    expect(seen).toEqual({ a: 1 })
    await fiber.dispose()
  })

  it('rejects with the error of a plugin that fails, which is logged too', async () => {
    const it = await host()
    const plugin = { name: 'broken', apply: async () => Promise.reject(new Error('cannot start')) }
    await expect(it.mount(plugin)).rejects.toThrow('cannot start')
    expect(it.logs.find({ level: 'error', text: 'cannot start' })).toHaveLength(1)
  })
})

describe('logs', () => {
  it('are collected with name, level and formatted text', async () => {
    const it = await host()
    it.ctx.logger('mine').debug('found %d of %s', 3, 'ten')
    it.ctx.logger('other').warn(new Error('odd'))
    expect(it.logs.find({ name: 'mine' })).toEqual([{ name: 'mine', level: 'debug', text: 'found 3 of ten' }])
    expect(it.logs.find({ level: 'warn', text: /Error: odd/u })).toHaveLength(1)
    expect(it.logText()).toContain('debug mine: found 3 of ten\nwarn other: Error: odd')
    it.logs.clear()
    expect(it.logs.entries).toEqual([])
  })

  it('can be limited to a level', async () => {
    const it = await host({ logLevel: 1 })
    it.ctx.logger('mine').debug('not this')
    it.ctx.logger('mine').info('this')
    expect(it.logText()).toBe('info mine: this')
  })

  it('are complete to the end of disposal', async () => {
    const it = await host()
    const plugin = {
      name: 'last',
      apply: async (ctx: Context) => {
        ctx.effect(() => async () => {
          await new Promise((resolve) => setTimeout(resolve, 5))
          ctx.logger.info('last words')
        })
      },
    }
    await it.mount(plugin)
    await it.dispose()
    expect(it.logText()).toContain('info last: last words')
  })
})

describe('statuses', () => {
  const status = (serverName: string, kind: McpStatus['status'], toolCount = 0) => ({
    serverName,
    status: kind,
    toolCount,
  })

  it('are recorded by server', async () => {
    const it = await host()
    emitStatus(it, status('a', 'connecting'))
    emitStatus(it, status('b', 'failed'))
    emitStatus(it, status('a', 'connected', 2))
    expect(it.statuses.kinds('a')).toEqual(['connecting', 'connected'])
    expect(it.statuses.all()).toHaveLength(3)
    expect(it.statuses.latest('a')).toEqual(status('a', 'connected', 2))
  })

  it('are waited for: the latest if it matches, else the next that does', async () => {
    const it = await host()
    emitStatus(it, status('a', 'connected', 1))
    expect(await it.status('a', 'connected')).toMatchObject({ toolCount: 1 })
    const next = it.status('a', 'connected', { next: true })
    const other = it.status('a', ({ toolCount }) => toolCount === 7)
    emitStatus(it, status('b', 'connected', 7))
    emitStatus(it, status('a', 'connected', 2))
    emitStatus(it, status('a', 'reconnecting', 7))
    expect(await next).toMatchObject({ toolCount: 2 })
    expect(await other).toMatchObject({ status: 'reconnecting' })
  })

  it('that do not come are reported with what came instead', async () => {
    const it = await host()
    emitStatus(it, status('a', 'failed'))
    const wait = it.status('a', 'connected', { timeout: 5 })
    await expect(wait).rejects.toThrow(
      '"connected" of "a" did not come within 5 ms; seen:\n{"serverName":"a"',
    )
  })
})

describe('optional services', () => {
  it('are absent unless asked for', async () => {
    const { ctx } = await host()
    for (const name of ['timer', 'attachments', 'codeRuntime', 'llm']) expect(ctx.get(name)).toBeUndefined()
  })

  it('timer: fibers get disposable timers', async () => {
    const { ctx } = await host({ timer: true })
    await ctx.timeout(1)
    expect(ctx.get('timer')).toBeDefined()
  })

  it('attachments: images are stored in a directory that goes with the host', async () => {
    const it = await host({ attachments: { maxImageBytes: 1000 } })
    const { attachments } = it.ctx
    expect(attachments.imageLimits.maxImageBytes).toBe(1000)
    const data = Buffer.from(PNG, 'base64')
    const ref = await attachments.saveImage({ data, mediaType: 'image/png' })
    expect((await attachments.readImage(ref)).ref).toEqual(ref)
    const root = (attachments as unknown as { root: string }).root
    expect(existsSync(root)).toBe(true)
    await it.dispose()
    expect(existsSync(root)).toBe(false)
  })

  it('llm: models declare what they accept', async () => {
    const { ctx } = await host({ llm: { plain: ['text'], eyes: ['text', 'image'], secret: undefined } })
    const modalities = async (model: string) =>
      (await ctx.llm.resolveModelInfo(SCRIPTED_PROVIDER, model)).inputModalities
    expect(await modalities('plain')).toEqual(['text'])
    expect(await modalities('eyes')).toEqual(['text', 'image'])
    expect(await modalities('secret')).toBeUndefined()
  })
})

describe('disposal', () => {
  it('disposes every plugin once, even when asked twice', async () => {
    await using it = await startHost()
    let disposals = 0
    await it.mount({
      name: 'counted',
      apply: async (ctx: Context) => void ctx.effect(() => () => void disposals++),
    })
    await Promise.all([it.dispose(), it.dispose()])
    expect(disposals).toBe(1)
  })

  it('leaves no timers, workers or processes', async () => {
    const before = holdings()
    using timers = trackTimers()
    const it = await startHost({ mode: 'code', attachments: true, timer: true, llm: { plain: ['text'] } })
    const running = it.call('run_code', { code: 'await new Promise(() => {})', description: 'never ends' })
    it.ctx.interval(() => {}, 1000)
    await vi.waitFor(() => expect(it.leaks().resources).toHaveProperty('MessagePort'))
    expect((await timers.live()).join('\n')).toContain('cordis-plugin-timer')
    await it.dispose()
    expect(await running).toMatchObject({ isError: true })
    expect(await timers.live()).toEqual([])
    const { processes, resources } = growth(before)
    expect(processes).toEqual([])
    expect(resources).not.toHaveProperty('MessagePort')
  })
})

describe('leaks', () => {
  it('shows descendants, helpers of helpers too, until they are gone', async () => {
    const before = holdings()
    const child = spawn('sh', ['-c', 'sleep 600 & echo $!; wait'])
    const [line] = (await once(child.stdout, 'data')) as [Buffer]
    const grandchild = Number(line.toString())
    const pids = descendants().map(({ pid }) => pid)
    expect(pids).toContain(child.pid)
    expect(pids).toContain(grandchild)
    expect(growth(before).processes.find(({ pid }) => pid === grandchild)?.command).toBe('sleep 600')
    expect(isAlive(grandchild)).toBe(true)
    process.kill(grandchild)
    await once(child, 'close')
    expect(growth(before).processes).toEqual([])
    expect(isAlive(grandchild)).toBe(false)
  })
})

describe('tracked timers', () => {
  it('are those that are pending, with the place that set them', async () => {
    using timers = trackTimers()
    const timeout = setTimeout(() => {}, 60_000).unref()
    const interval = setInterval(() => {}, 60_000)
    expect(await timers.live()).toEqual([
      expect.stringContaining('host.spec.ts'),
      expect.stringContaining('host.spec.ts'),
    ])
    clearTimeout(timeout)
    clearInterval(interval)
    expect(await timers.live()).toEqual([])
  })

  it('are gone once they fired', async () => {
    using timers = trackTimers()
    await new Promise((resolve) => setTimeout(resolve, 1))
    expect(await timers.live()).toEqual([])
  })
})
