import { startHost } from '@dsh-mcp/host'
import type { HttpAnswer } from '@dsh-mcp/fixtures'
import { expect, it, onTestFinished } from 'vitest'
import { httpConfig, httpFixture } from '../http-support.ts'
import { eventually, mount } from '../support.ts'

/** A server that answers the first tries to open its event stream like this. */
async function connected(answer: HttpAnswer, times: number) {
  let tries = 0
  const fixture = await httpFixture({
    era: 'legacy',
    tools: [{ name: 'old', inputSchema: { type: 'object' } }],
    intercept: ({ method }) => (method === 'GET' && tries++ < times ? answer : undefined),
  })
  const host = await startHost()
  onTestFinished(() => host.dispose())
  await mount(host, httpConfig(fixture.url))
  return { fixture, host, tries: () => tries }
}

const CHANGED = { add: [{ name: 'new', inputSchema: { type: 'object' } }], remove: ['old'] }

it.each([
  ['was cut', 'disconnect' as const],
  ['was refused for now', { status: 503 }],
  ['was one too many', { status: 429 }],
])(
  'an event stream whose opening %s is opened later, and what changed meanwhile is noticed',
  async (_, answer) => {
    const { fixture, host } = await connected(answer, 2)
    fixture.toolbox.configure({ tools: CHANGED.add })
    await eventually(() => expect(host.toolNames()).toEqual(['mcp__one__new']))
    fixture.setTools({ remove: ['new'] })
    await eventually(() => expect(host.toolNames()).toEqual([]))
    expect(host.statuses.kinds('one').filter((kind) => kind !== 'connected')).toEqual([
      'connecting',
      'connecting',
    ])
  },
)

it('an event stream that the server does not have is not asked for again', async () => {
  const { fixture, host, tries } = await connected({ status: 405 }, Number.POSITIVE_INFINITY)
  await eventually(() => expect(tries()).toBe(1))
  for (let call = 0; call < 20; call++) await host.call('mcp__one__old')
  expect(fixture.requests.filter(({ method }) => method === 'GET')).toHaveLength(1)
})

it('a connection that ends asks for its event stream no more', async () => {
  const { host, tries } = await connected('disconnect', Number.POSITIVE_INFINITY)
  await eventually(() => expect(tries()).toBeGreaterThan(1))
  await host.dispose()
  const before = tries()
  await new Promise((resolve) => setTimeout(resolve, 500))
  expect(tries()).toBe(before)
})
