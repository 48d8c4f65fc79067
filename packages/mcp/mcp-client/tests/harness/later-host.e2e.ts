/** The prompt on the host that is published, and on a later one that names the places of well-known sections. */
import McpResourceRuntime from '@deepseek-ai/dsh-mcp-resources'
import { startHttpFixture } from '@dsh-mcp/fixtures'
import type { TestHost } from '@dsh-mcp/host'
import { describe, expect, it } from 'vitest'
import { host, mount } from '../support.ts'

const INSTRUCTIONS = 'Ask {{politely}}, {not} {{}} or }}rudely{{.'

/** What later hosts have in addition; no release with it is published, so that it is added here. */
function nameThePlaces(on: TestHost): void {
  Object.assign(on.ctx.systemPrompt, {
    getSectionOrder: (name: string) => (name === 'MCP_SERVERS' ? 120 : undefined),
  })
}

describe.each([
  {
    name: 'the published host',
    prepare: () => {},
    place: 'the end of the tool guidance',
    around: [179, 182],
  },
  { name: 'a later host', prepare: nameThePlaces, place: 'the place that it names', around: [119, 121] },
])('on $name', ({ prepare, place, around }) => {
  it(`instructions and server names stand at ${place}, literal, over a reconnection too`, async () => {
    await using fixture = await startHttpFixture({ era: 'legacy', instructions: INSTRUCTIONS })
    const on = await host()
    prepare(on)
    await on.mount(McpResourceRuntime)
    for (const order of around) {
      on.ctx.systemPrompt.section({ name: `at ${order}`, order, text: `— ${order} —` })
    }
    await mount(on, { serverName: 'zoo', transport: 'streamable-http', url: fixture.url })
    const { text } = await on.prompt()
    expect(text).toContain(INSTRUCTIONS)
    const [before, , after] = text.split(/— \d+ —/)
    expect([before, after].map((part) => part!.trim())).toEqual(['', ''])

    const recovered = on.status('zoo', 'connected', { next: true })
    fixture.forgetSessions()
    await on.call('mcp__zoo__echo', { message: 'notices it' })
    await recovered
    expect((await on.prompt()).text).toBe(text)
  })
})
