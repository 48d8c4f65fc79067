import { existsSync } from 'node:fs'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Context } from '@deepseek-ai/cordis'
import { describe, expect, it } from 'vitest'
import {
  descendants,
  eventually,
  growth,
  holdings,
  isAlive,
  SCRIPTED_PROVIDER,
  startHost,
  trackTimers,
} from '../src/index.ts'
import type { McpStatus, TestHost } from '../src/index.ts'
import { forever, greet, openHost } from './support.ts'

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** Emit a status as mcp-client does. */
function emitStatus({ ctx }: TestHost, status: McpStatus): void {
  const bus = ctx as unknown as { emit(name: string, status: McpStatus): void }
  bus.emit('mcp-client/status', status)
}

describe('calling tools', () => {
  it('runs the real pipeline and returns its result', async () => {
    const host = await openHost()
    host.ctx.tools.register(greet())
    const result = await host.call('greet', { who: 'you' })
    expect(result).toMatchObject({ isError: false, value: { greeting: 'hello you' } })
    expect(host.text(result)).toBe('hello you\nbye')
  })

  it('returns failures as results', async () => {
    const host = await openHost()
    host.ctx.tools.register(greet())
    const failed = await host.call('greet', { who: 'nobody' })
    expect(failed).toMatchObject({ isError: true, error: { message: 'there is nobody' } })
    const unknown = await host.call('nothing')
    expect(unknown).toMatchObject({ isError: true, error: { info: { code: 'UNKNOWN_TOOL' } } })
  })

  it('gives every call its own id', async () => {
    const host = await openHost()
    const ids: string[] = []
    host.ctx.tools.register(greet())
    host.ctx.on('tools/result', (execution) => void ids.push(execution.callId))
    await host.call('greet', { who: 'a' })
    await host.call('greet', { who: 'b' })
    expect(new Set(ids).size).toBe(2)
  })

  it('cancels a call', async () => {
    const host = await openHost()
    host.ctx.tools.register(forever())
    const abort = new AbortController()
    const call = host.call('forever', {}, { signal: abort.signal })
    abort.abort()
    expect(await call).toMatchObject({
      isError: true,
      error: { info: { code: expect.stringContaining('ABORTED') } },
    })
  })

  it('counts tools/change', async () => {
    const host = await openHost()
    expect(host.toolChanges).toBe(0)
    const unregister = host.ctx.tools.register(greet())
    expect(host.toolChanges).toBe(1)
    unregister()
    expect(host.toolChanges).toBe(2)
  })
})

describe('scopes', () => {
  it('isolate their tools and prompt sections', async () => {
    const host = await openHost()
    host.ctx.tools.register(greet('shared'))
    const [one, two] = [host.scope('one'), host.scope('two')]
    one.ctx.tools.register(greet('mine'))
    one.ctx.systemPrompt.section({ name: 'mine', order: 1, text: 'only for one' })
    expect(host.toolNames()).toEqual(['shared'])
    expect(host.toolNames(one.key)).toEqual(['shared', 'mine'])
    expect(host.toolNames(two.key)).toEqual(['shared'])
    expect((await host.prompt(one.key)).text).toBe('only for one')
    expect((await host.prompt(two.key)).text).toBe('')
    expect(await host.call('mine', { who: 'x' }, { agent: one.key })).toMatchObject({ isError: false })
    expect(await host.call('mine', { who: 'x' }, { agent: two.key })).toMatchObject({ isError: true })
  })

  it('inherit from a parent scope', async () => {
    const host = await openHost()
    const parent = host.scope('parent')
    parent.ctx.tools.register(greet('inherited'))
    const child = host.scope('child', parent.key)
    expect(host.toolNames(child.key)).toEqual(['inherited'])
  })

  it('take their registrations and plugins with them', async () => {
    const host = await openHost()
    const scope = host.scope()
    let disposed = false
    const plugin = {
      name: 'scoped',
      inject: ['tools'],
      apply: async (ctx: Context) => {
        ctx.tools.register(greet('scoped'))
        ctx.effect(() => () => (disposed = true))
      },
    }
    await host.mount(plugin, {}, scope.ctx)
    expect(host.toolNames(scope.key)).toEqual(['scoped'])
    expect(host.toolNames()).toEqual([])
    await scope.dispose()
    expect(disposed).toBe(true)
    expect(host.toolNames(scope.key)).toEqual([])
  })
})

describe('the prompt', () => {
  it('holds what was registered, rendered as the model gets it', async () => {
    const host = await openHost()
    host.ctx.tools.register(greet())
    host.ctx.systemPrompt.section({ name: 'b', order: 20, text: 'second {{thing}}' })
    host.ctx.systemPrompt.section({ name: 'a', order: 10, text: 'first' })
    host.ctx.systemPrompt.variable('thing', () => '{{literally}}')
    host.ctx.systemPrompt.context({ name: 'c', order: 1, text: 'now' })
    const prompt = await host.prompt()
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
    const host = await openHost({ mode })
    host.ctx.tools.register(greet())
    const code = `const { greeting } = await tools.greet({ who: 'program' }); return greeting`
    const result = await host.call('run_code', { code, description: 'greets' })
    expect(host.text(result)).toContain('hello program')
    const { tools, text } = await host.prompt()
    expect(tools.map(({ name }) => name)).toEqual(mode === 'code' ? ['run_code'] : ['greet', 'run_code'])
    expect(text).toContain('greet')
  })

  it('code: a direct call is denied', async () => {
    const host = await openHost({ mode: 'code' })
    host.ctx.tools.register(greet())
    expect(await host.call('greet', { who: 'you' })).toMatchObject({ isError: true })
  })
})

describe('mounting', () => {
  it('waits for the plugin and passes its configuration', async () => {
    const host = await openHost()
    let seen: unknown
    const plugin = {
      name: 'slow',
      apply: async (_ctx: Context, config: unknown) => {
        await new Promise((resolve) => setTimeout(resolve, 5))
        seen = config
      },
    }
    const fiber = await host.mount(plugin, { a: 1 })
    expect(seen).toEqual({ a: 1 })
    await fiber.dispose()
  })

  it('rejects with the error of a plugin that fails, which is logged too', async () => {
    const host = await openHost()
    const plugin = { name: 'broken', apply: async () => Promise.reject(new Error('cannot start')) }
    await expect(host.mount(plugin)).rejects.toThrow('cannot start')
    expect(host.logs.find({ level: 'error', text: 'cannot start' })).toHaveLength(1)
  })
})

describe('logs', () => {
  it('are collected with name, level and formatted text', async () => {
    const host = await openHost()
    host.ctx.logger('mine').debug('found %d of %s', 3, 'ten')
    host.ctx.logger('other').warn(new Error('odd'))
    expect(host.logs.find({ name: 'mine' })).toEqual([
      { name: 'mine', level: 'debug', text: 'found 3 of ten' },
    ])
    expect(host.logs.find({ level: 'warn', text: /Error: odd/u })).toHaveLength(1)
    expect(host.logText()).toContain('debug mine: found 3 of ten\nwarn other: Error: odd')
    host.logs.clear()
    expect(host.logs.entries).toEqual([])
  })

  it('can be limited to a level', async () => {
    const host = await openHost({ logLevel: 1 })
    host.ctx.logger('mine').debug('not this')
    host.ctx.logger('mine').info('this')
    expect(host.logText()).toBe('info mine: this')
  })

  it('are complete to the end of disposal', async () => {
    const host = await openHost()
    const plugin = {
      name: 'last',
      apply: async (ctx: Context) => {
        ctx.effect(() => async () => {
          await new Promise((resolve) => setTimeout(resolve, 5))
          ctx.logger.info('last words')
        })
      },
    }
    await host.mount(plugin)
    await host.dispose()
    expect(host.logText()).toContain('info last: last words')
  })
})

describe('statuses', () => {
  const status = (serverName: string, kind: McpStatus['status'], toolCount = 0) => ({
    serverName,
    status: kind,
    toolCount,
  })

  it('are recorded by server', async () => {
    const host = await openHost()
    emitStatus(host, status('a', 'connecting'))
    emitStatus(host, status('b', 'failed'))
    emitStatus(host, status('a', 'connected', 2))
    expect(host.statuses.kinds('a')).toEqual(['connecting', 'connected'])
    expect(host.statuses.all()).toHaveLength(3)
    expect(host.statuses.latest('a')).toEqual(status('a', 'connected', 2))
    host.statuses.clear()
    expect(host.statuses.all()).toEqual([])
  })

  it('are waited for: the latest if it matches, else the next that does', async () => {
    const host = await openHost()
    emitStatus(host, status('a', 'connected', 1))
    expect(await host.status('a', 'connected')).toMatchObject({ toolCount: 1 })
    const other = host.status('a', ({ toolCount }) => toolCount === 7)
    emitStatus(host, status('b', 'connected', 7))
    emitStatus(host, status('a', 'connected', 2))
    emitStatus(host, status('a', 'reconnecting', 7))
    expect(await other).toMatchObject({ status: 'reconnecting' })
  })

  it('are waited for since the start of what brings them about, and until its end', async () => {
    const host = await openHost()
    emitStatus(host, status('a', 'connected', 1))
    let isOver = false
    const during = async () => {
      emitStatus(host, status('a', 'connected', 2))
      await new Promise((resolve) => setTimeout(resolve, 1))
      emitStatus(host, status('a', 'connected', 3))
      isOver = true
    }
    expect(await host.status('a', 'connected', { during })).toMatchObject({ toolCount: 2 })
    expect(isOver).toBe(true)
    const failing = host.status('a', 'connected', { during: async () => Promise.reject(new Error('no')) })
    await expect(failing).rejects.toThrow('no')
  })

  it('that do not come are reported with what came instead', async () => {
    const host = await openHost()
    emitStatus(host, status('a', 'failed'))
    const wait = host.status('a', 'connected', { timeout: 5 })
    await expect(wait).rejects.toThrow(
      '"connected" of "a" did not come within 5 ms; seen:\n{"serverName":"a"',
    )
  })
})

describe('optional services', () => {
  it('are absent unless asked for', async () => {
    const { ctx } = await openHost()
    for (const name of ['timer', 'attachments', 'codeRuntime', 'llm']) expect(ctx.get(name)).toBeUndefined()
  })

  it('timer: fibers get disposable timers', async () => {
    const { ctx } = await openHost({ timer: true })
    await ctx.timeout(1)
    expect(ctx.get('timer')).toBeDefined()
  })

  it('attachments: images are stored in a directory that goes with the host', async () => {
    const host = await openHost({ attachments: { maxImageBytes: 1000 } })
    const { attachments } = host.ctx
    expect(attachments.imageLimits.maxImageBytes).toBe(1000)
    const data = Buffer.from(PNG, 'base64')
    const ref = await attachments.saveImage({ data, mediaType: 'image/png' })
    expect((await attachments.readImage(ref)).ref).toEqual(ref)
    const root = (attachments as unknown as { root: string }).root
    expect(existsSync(root)).toBe(true)
    await host.dispose()
    expect(existsSync(root)).toBe(false)
  })

  it('llm: models declare what they accept', async () => {
    const { ctx } = await openHost({ llm: { plain: ['text'], eyes: ['text', 'image'], secret: undefined } })
    const modalities = async (model: string) =>
      (await ctx.llm.resolveModelInfo(SCRIPTED_PROVIDER, model)).inputModalities
    expect(await modalities('plain')).toEqual(['text'])
    expect(await modalities('eyes')).toEqual(['text', 'image'])
    expect(await modalities('secret')).toBeUndefined()
  })
})

describe('disposal', () => {
  it('disposes every plugin once, even when asked twice', async () => {
    await using host = await startHost()
    let disposals = 0
    await host.mount({
      name: 'counted',
      apply: async (ctx: Context) => void ctx.effect(() => () => void disposals++),
    })
    await Promise.all([host.dispose(), host.dispose()])
    expect(disposals).toBe(1)
  })

  it('leaves no timers, workers or processes', async () => {
    const before = holdings()
    using timers = trackTimers()
    const host = await startHost({ mode: 'code', attachments: true, timer: true, llm: { plain: ['text'] } })
    const running = host.call('run_code', { code: 'await new Promise(() => {})', description: 'never ends' })
    host.ctx.interval(() => {}, 1000)
    await eventually(() => expect(host.leaks().resources).toHaveProperty('MessagePort'))
    expect((await timers.live()).join('\n')).toContain('cordis-plugin-timer')
    await host.dispose()
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

describe('zombies', () => {
  it('are not alive', async () => {
    const before = holdings()
    // After exec nobody waits for the first sleep: it stays a zombie until its parent ends.
    const child = spawn('sh', ['-c', 'sleep 0 & echo $!; exec sleep 600'])
    const [line] = (await once(child.stdout, 'data')) as [Buffer]
    const zombie = Number(line.toString())
    await eventually(() => expect(isAlive(zombie)).toBe(false))
    await eventually(() =>
      expect(growth(before).processes.map(({ command }) => command)).toEqual(['sleep 600']),
    )
    expect(() => process.kill(zombie, 0)).not.toThrow()
    child.kill()
    await once(child, 'close')
  })
})

describe('eventually', () => {
  it('returns what the check returns as soon as it passes', async () => {
    let tries = 0
    const check = async () => {
      if (++tries < 3) throw new Error('not yet')
      return tries
    }
    expect(await eventually(check)).toBe(3)
  })

  it('throws the last failure when the time is up', async () => {
    const never = () => {
      throw new Error('never')
    }
    await expect(eventually(never, 1)).rejects.toThrow('never')
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
