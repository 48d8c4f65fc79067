/** A server's instructions over the life of its connection. */
import { describe, expect, it } from 'vitest'
import { ERAS, httpConfig, httpFixture } from '../http-support.ts'
import { host, mount } from '../support.ts'

const prompt = async (on: Awaited<ReturnType<typeof host>>) => (await on.prompt()).text
const bytesOf = (instructions: string) =>
  Buffer.byteLength(
    `The MCP server "one" describes how to use its tools and resources:\n<mcp-server-instructions server="one">\n${instructions}\n</mcp-server-instructions>`,
  )

describe.each(ERAS)('the instructions of a %s server', (era) => {
  it('are in the prompt while the entry is active', async () => {
    const fixture = await httpFixture({ era, instructions: 'Use {{echo}} with care.' })
    const on = await host()
    const entry = await mount(on, httpConfig(fixture.url))
    expect(await prompt(on)).toContain('\nUse {{echo}} with care.\n')
    await entry.dispose()
    expect(await prompt(on)).toBe('')
  })

  it.each([undefined, '', ' \n\t'])('add nothing when they are %j', async (instructions) => {
    const fixture = await httpFixture({ era, ...(instructions !== undefined && { instructions }) })
    const on = await host()
    await mount(on, httpConfig(fixture.url))
    expect(await prompt(on)).toBe('')
    expect(on.toolNames()).toContain('mcp__one__echo')
  })

  it('are there without tools, too', async () => {
    const fixture = await httpFixture({ era, noTools: true, instructions: 'Read the resources.' })
    const on = await host()
    await mount(on, httpConfig(fixture.url))
    expect(await prompt(on)).toContain('Read the resources.')
  })

  it('stay through an outage, and are replaced only when the new connection has its tools', async () => {
    const fixture = await httpFixture({ era, instructions: 'old' })
    const on = await host()
    await mount(on, httpConfig(fixture.url))
    const before = await prompt(on)
    await fixture.stop()
    await on.call('mcp__one__echo', { message: 'hi' })
    await on.status('one', 'reconnecting')
    expect(await prompt(on)).toBe(before)
    await fixture.restart({ instructions: 'new', failList: true })
    await on.status('one', ({ error }) => error?.includes('the list is not available') === true)
    expect(await prompt(on)).toBe(before)
    fixture.toolbox.configure({ failList: 0 })
    await on.status('one', 'connected')
    expect(await prompt(on)).toBe(before.replace('old', 'new'))
  })

  it('go when the new connection has none', async () => {
    const fixture = await httpFixture({ era, instructions: 'old' })
    const on = await host()
    await mount(on, httpConfig(fixture.url))
    await fixture.stop()
    await on.call('mcp__one__echo', { message: 'hi' })
    await on.status('one', 'reconnecting')
    await fixture.restart({ instructions: '' })
    await on.status('one', 'connected')
    expect(await prompt(on)).toBe('')
  })

  it('are byte for byte the same after a restart of server and host', async () => {
    const fixture = await httpFixture({ era, instructions: 'Same \u{202e} as ever {{x}}.' })
    const prompts = new Set<string>()
    for (let round = 0; round < 3; round++) {
      const on = await host()
      await mount(on, httpConfig(fixture.url))
      prompts.add(await prompt(on))
      await on.dispose()
      await fixture.restart()
    }
    expect(prompts.size).toBe(1)
  })

  it('of exactly maxInstructionBytes are accepted', async () => {
    const instructions = 'x'.repeat(1000)
    const fixture = await httpFixture({ era, instructions })
    const on = await host()
    await mount(on, httpConfig(fixture.url, { maxInstructionBytes: bytesOf(instructions) }))
    expect(await prompt(on)).toContain(instructions)
  })

  it('of one byte more reject the connection, which is tried again', async () => {
    const instructions = 'x'.repeat(1000)
    const maxInstructionBytes = bytesOf(instructions) - 1
    const fixture = await httpFixture({ era, instructions })
    const on = await host()
    await mount(on, httpConfig(fixture.url, { maxInstructionBytes }))
    const { error } = await on.status('one', 'reconnecting')
    expect(error).toContain(
      `the server's instructions take ${maxInstructionBytes + 1} bytes, attribution included, and maxInstructionBytes admits ${maxInstructionBytes}`,
    )
    expect(on.toolNames()).toEqual([])
    expect(fixture.requestsFor('tools/list')).toEqual([])
    fixture.toolbox.configure({ instructions: 'short' })
    await on.status('one', 'connected')
    expect(await prompt(on)).toContain('short')
    expect(on.toolNames()).toContain('mcp__one__echo')
  })

  it('that are too large reject an activation that is to fail with the start', async () => {
    const fixture = await httpFixture({ era, instructions: 'x'.repeat(1_000_000) })
    const on = await host()
    const config = httpConfig(fixture.url, { failOnStartupError: true })
    await expect(mount(on, config)).rejects.toThrow('and maxInstructionBytes admits 32768')
    expect(await prompt(on)).toBe('')
  })

  it('of an agent’s own entry are in its prompt only', async () => {
    const fixture = await httpFixture({ era, instructions: 'For this agent.' })
    const on = await host()
    const agent = on.scope('agent')
    await mount(on, httpConfig(fixture.url), agent.ctx)
    expect((await on.prompt(agent.key)).text).toContain('For this agent.')
    expect(await prompt(on)).toBe('')
    expect((await on.prompt(on.scope('other').key)).text).toBe('')
  })
})
