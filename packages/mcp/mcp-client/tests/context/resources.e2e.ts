/** A server's resources through the resource service. */
import Resources from '@deepseek-ai/dsh-mcp-resources'
import type { HttpFixture, HttpFixtureOptions } from '@dsh-mcp/fixtures'
import type { TestHost } from '@dsh-mcp/host'
import { describe, expect, it, vi } from 'vitest'
import { MAX_LIST_ENTRIES } from '../../src/connection/listing.ts'
import type { StreamableHttpConfig } from '../../src/index.ts'
import { ERAS, httpConfig, httpFixture, scriptedServer } from '../http-support.ts'
import { eventually, host, mount, turns } from '../support.ts'

async function connected(
  options: HttpFixtureOptions,
  more: Partial<StreamableHttpConfig> = {},
): Promise<{ fixture: HttpFixture; on: TestHost }> {
  const fixture = await httpFixture(options)
  const on = await host()
  await on.mount(Resources)
  await mount(on, httpConfig(fixture.url, more))
  return { fixture, on }
}

const list = async (on: TestHost, more = {}) =>
  await on.call('list_mcp_resources', { server: 'one', ...more })
const read = async (on: TestHost, uri = 'fixture://text/greeting', signal?: AbortSignal) =>
  await on.call('read_mcp_resource', { server: 'one', uri }, { ...(signal !== undefined && { signal }) })

interface Listed {
  resources: { uri: string }[]
  nextCursor?: string
}
const valueOf = (result: Awaited<ReturnType<typeof list>>): Listed => {
  if (result.isError) throw new Error('the call failed')
  return result.value as unknown as Listed
}

describe.each(ERAS)('the resources of a %s server', (era) => {
  it('are listed and read when they are asked for, and not before', async () => {
    const { fixture, on } = await connected({ era })
    const asked = () =>
      fixture.requests.filter(({ rpcMethod }) => rpcMethod?.startsWith('resources/') === true)
    expect(asked()).toEqual([])
    expect(valueOf(await list(on)).resources).toHaveLength(5)
    expect(on.text(await read(on))).toContain('Hello,\nworld.')
    const templates = await on.call('list_mcp_resource_templates', { server: 'one' })
    expect(on.text(templates)).toContain('fixture://echo/{text}')
    expect(asked()).toHaveLength(3)
  })

  it('are there without tools', async () => {
    const { on } = await connected({ era, noTools: true })
    expect(valueOf(await list(on)).resources).toHaveLength(5)
  })

  it('are collected over all pages without a cursor, and are one page with one', async () => {
    const { fixture, on } = await connected({ era, pageSize: 2 })
    const whole = valueOf(await list(on))
    expect(whole.resources).toHaveLength(5)
    expect(whole.nextCursor).toBeUndefined()
    expect(fixture.requestsFor('resources/list')).toHaveLength(3)
    const page = valueOf(await list(on, { cursor: '2' }))
    expect(page.resources).toEqual(whole.resources.slice(2, 4))
    expect(page.nextCursor).toBe('4')
    const templates = await on.call('list_mcp_resource_templates', { server: 'one', cursor: '1' })
    expect(on.text(templates)).toContain('fixture://sized/{bytes}')
    expect(on.text(templates)).not.toContain('fixture://echo')
  })

  it('are none of a server without the capability: empty lists, and a clear failure to read', async () => {
    const print = vi.spyOn(console, 'debug')
    const { fixture, on } = await connected({ era, noResources: true })
    expect(valueOf(await list(on))).toEqual({ resources: [] })
    const templates = await on.call('list_mcp_resource_templates', { server: 'one' })
    expect(templates.isError ? undefined : templates.value).toEqual({ resourceTemplates: [] })
    expect(on.text(await read(on))).toContain('The server offers no resources.')
    expect(fixture.requests.some(({ rpcMethod }) => rpcMethod?.startsWith('resources/'))).toBe(false)
    // The SDK would give the same answer, and print that it did.
    expect(print).not.toHaveBeenCalled()
  })

  it('that are not there are refused in the server’s words', async () => {
    const { on } = await connected({ era })
    expect(on.text(await read(on, 'fixture://none'))).toContain('Resource not found: fixture://none')
  })

  it('fail with the reason while the server is down, and stay offered', async () => {
    const { fixture, on } = await connected(
      { era },
      { reconnect: { initialDelayMs: 60_000, maxDelayMs: 60_000 } },
    )
    await fixture.stop()
    expect((await read(on)).isError).toBe(true)
    await on.status('one', 'reconnecting')
    const text = on.text(await read(on))
    expect(text).toContain('is not connected: nothing listens')
    expect(text).not.toContain('unknown')
    expect(on.toolNames()).toContain('read_mcp_resource')
  })

  it('are asked for no more when the caller gives up', async () => {
    const { fixture, on } = await connected({ era })
    const release = fixture.toolbox.holdRequests('resources/read')
    const cancellation = new AbortController()
    const answer = read(on, undefined, cancellation.signal)
    await eventually(() => expect(fixture.requestsFor('resources/read')).toHaveLength(1))
    cancellation.abort()
    expect((await answer).isError).toBe(true)
    release()
  })

  it('take no longer than a call may', async () => {
    const { fixture, on } = await connected({ era }, { toolCallTimeoutMs: 200 })
    const release = fixture.toolbox.holdRequests('resources/read')
    expect(on.text(await read(on))).toContain(
      'The request was not answered within 200 ms. It can be repeated.',
    )
    release()
    expect(on.statuses.latest('one')).toMatchObject({ status: 'connected' })
  })

  it('take no longer than a call may, over all pages of a list together', async () => {
    const { fixture, on } = await connected({ era, pageSize: 1 }, { toolCallTimeoutMs: 1000 })
    fixture.toolbox.configure({
      resources: Array.from({ length: 900 }, (_, index) => ({ uri: `a:${index}`, name: 'a', text: '' })),
    })
    const slow = fixture.toolbox.handle.bind(fixture.toolbox)
    fixture.toolbox.handle = async (...request) => {
      await new Promise((resolve) => setTimeout(resolve, 20))
      return await slow(...request)
    }
    expect(on.text(await list(on))).toContain("the server's list of resources took longer than 1000 ms")
  })

  it('are no more than a list may hold', async () => {
    const resources = Array.from({ length: MAX_LIST_ENTRIES + 1 }, (_, index) => ({
      uri: `a:${index}`,
      name: 'a',
      text: '',
    }))
    const { on } = await connected({ era, resources })
    expect(on.text(await list(on))).toContain('Ask for one page at a time, with a cursor.')
  })

  it('can be used whichever was mounted first, and after the service was reloaded', async () => {
    const fixture = await httpFixture({ era })
    const on = await host()
    await mount(on, httpConfig(fixture.url))
    expect(on.toolNames()).not.toContain('read_mcp_resource')
    for (let round = 0; round < 2; round++) {
      const service = await on.mount(Resources)
      await turns()
      expect(on.text(await read(on))).toContain('Hello')
      expect((await on.prompt()).text).toContain('["one"]')
      await service.dispose()
      expect(on.toolNames()).not.toContain('read_mcp_resource')
    }
    expect(on.text(await on.call('mcp__one__echo', { message: 'hi' }))).toBe('hi')
  })

  it('go with their entry', async () => {
    const fixture = await httpFixture({ era })
    const on = await host()
    await on.mount(Resources)
    const entry = await mount(on, httpConfig(fixture.url))
    expect(on.toolNames()).toContain('read_mcp_resource')
    await entry.dispose()
    expect(on.toolNames()).toEqual([])
  })

  it('of an agent’s own entry are offered to it only', async () => {
    const fixture = await httpFixture({ era })
    const on = await host()
    await on.mount(Resources)
    const agent = on.scope('agent')
    await mount(on, httpConfig(fixture.url), agent.ctx)
    const args = { server: 'one', uri: 'fixture://text/greeting' }
    expect(on.text(await on.call('read_mcp_resource', args, { agent: agent.key }))).toContain('Hello')
    expect(on.toolNames()).not.toContain('read_mcp_resource')
  })
})

describe('a resource whose answer broke off', () => {
  it('says so, and that it can be asked for again', async () => {
    const server = await scriptedServer({
      initialize: ({ id }, response) => {
        const value = {
          protocolVersion: '2025-11-25',
          capabilities: { resources: {} },
          serverInfo: { name: 's', version: '1' },
        }
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ jsonrpc: '2.0', id, result: value }))
      },
      'resources/read': (_message, response) => response.writeHead(202).end(),
    })
    const on = await host()
    await on.mount(Resources)
    await mount(on, httpConfig(server.url))
    expect(on.text(await read(on))).toMatch(/took the request and did not answer it\. It can be repeated\./u)
  })
})
