/** The prompt on the host that is published, and on a later one: named places, and sections that are literal. */
import McpResourceRuntime from '@deepseek-ai/dsh-mcp-resources'
import { startHttpFixture } from '@dsh-mcp/fixtures'
import { describe, expect, it } from 'vitest'
import { host, mount } from '../support.ts'

const INSTRUCTIONS = 'Ask {{politely}}, {not} {{}} or }}rudely{{.'

describe.each([
  {
    name: 'the published host',
    laterPrompt: false,
    place: 'the end of the tool guidance',
    around: [179, 182],
    variables: 1,
  },
  {
    name: 'a later host',
    laterPrompt: true,
    place: 'the place that it names',
    around: [119, 121],
    variables: 0,
  },
])('on $name', ({ laterPrompt, place, around, variables }) => {
  it(`instructions and server names stand at ${place}, literal, over a reconnection too`, async () => {
    await using fixture = await startHttpFixture({ era: 'legacy', instructions: INSTRUCTIONS })
    const on = await host({ laterPrompt })
    await on.mount(McpResourceRuntime)
    for (const order of around) {
      on.ctx.systemPrompt.section({ name: `at ${order}`, order, text: `— ${order} —` })
    }
    await mount(on, { serverName: 'zoo', transport: 'streamable-http', url: fixture.url })
    const { text } = await on.prompt()
    expect(text).toContain(INSTRUCTIONS)
    const ours = Object.keys((await on.ctx.systemPrompt.assemble()).variables).filter((name) =>
      name.startsWith('mcp_instructions_'),
    )
    expect(ours).toHaveLength(variables)
    const [before, , after] = text.split(/— \d+ —/)
    expect([before, after].map((part) => part!.trim())).toEqual(['', ''])

    fixture.forgetSessions()
    const call = () => on.call('mcp__zoo__echo', { message: 'notices it' })
    await on.status('zoo', 'connected', { during: call })
    expect((await on.prompt()).text).toBe(text)
  })
})
