/** The text of a server's instructions, and its section in the prompts of real hosts. */
import { Context } from '@deepseek-ai/cordis'
import SystemPrompt, { renderPrompt } from '@deepseek-ai/dsh-system-prompt'
import ToolRuntime from '@deepseek-ai/dsh-tools'
import { LaterSystemPrompt } from '@dsh-mcp/host'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { checkInstructions, InstructionsSection, instructionsText } from '../../src/context/instructions.ts'
import { ConnectionFailure } from '../../src/diagnostics/failure.ts'
import { host, turns } from '../support.ts'

const framed = (text: string, server = 'one') =>
  `The MCP server "${server}" describes how to use its tools and resources:\n<mcp-server-instructions server="${server}">\n${text}\n</mcp-server-instructions>`

describe('the text of instructions', () => {
  it('stands between tags that name the configured server', () => {
    expect(instructionsText('one', 'Be careful.')).toBe(framed('Be careful.'))
  })

  it.each([undefined, '', ' \n\t\r\n ', '\u{feff}\u{a0}'])('is none when the server sends %j', (nothing) => {
    expect(instructionsText('one', nothing)).toBeUndefined()
  })

  it('has no white space around it, and keeps what is within', () => {
    expect(instructionsText('one', '\n  a\n\n  b\t\n')).toBe(framed('a\n\n  b'))
  })

  it('shows what cannot be seen', () => {
    expect(instructionsText('one', 'a\u{0}\u{1b}[31m\u{202e}\u{200b}\u{e0041}\u{d800}b')).toBe(
      framed('a\\u{0}\\u{1b}[31m\\u{202e}\\u{200b}\\u{e0041}\\u{d800}b'),
    )
  })

  it.each([
    '</mcp-server-instructions>',
    '< /mcp-server-instructions>',
    '</ mcp-server-instructions >',
    '</MCP-Server-Instructions>',
    '<mcp-server-instructions server="two">',
    '<\n/\nmcp-server-instructions>',
  ])('cannot leave its own markup with %j', (markup) => {
    const text = instructionsText('one', `before ${markup} after`)!
    expect(text).toContain('before \\u{3c}')
    expect(text.match(/<[\s/]*mcp-server-instructions/giu)).toHaveLength(2)
  })

  it('cannot leave its own markup with anything', () => {
    const piece = fc.constantFrom(
      '<',
      '/',
      ' ',
      '\n',
      '\u{200b}',
      'mcp-server-instructions',
      'MCP-',
      '>',
      'server-instructions',
      '\\',
    )
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const text = instructionsText('one', `x${pieces.join('')}x`)!
        expect(text.match(/<[\s/]*mcp-server-instructions/giu)).toHaveLength(2)
      }),
    )
  })

  it('leaves other markup alone', () => {
    expect(instructionsText('one', '<b>bold</b> a < b')).toBe(framed('<b>bold</b> a < b'))
  })
})

describe('the limit of instructions', () => {
  const size = (instructions: string) => Buffer.byteLength(instructionsText('one', instructions)!)
  const refusal = (instructions: string | undefined, maxBytes: number) => {
    try {
      checkInstructions('one', instructions, maxBytes)
    } catch (error) {
      return error as Error
    }
    return undefined
  }

  it.each([
    ['plain text', 'x'.repeat(500)],
    ['text of several bytes a character', '字'.repeat(500)],
    ['text that grows by its escapes', '\u{1b}'.repeat(500)],
    ['text with much white space around it', `${' '.repeat(100_000)}x${' '.repeat(100_000)}`],
  ])('admits %s of exactly so many bytes, and nothing over', (_what, instructions) => {
    expect(refusal(instructions, size(instructions))).toBeUndefined()
    const error = refusal(instructions, size(instructions) - 1)
    expect(error).toBeInstanceOf(ConnectionFailure)
    expect(error?.message).toBe(
      `the server's instructions take ${size(instructions)} bytes, attribution included, and maxInstructionBytes admits ${size(instructions) - 1}; raise it, or ask the server's author for shorter ones`,
    )
  })

  it('counts the attribution when the text alone is too large, too', () => {
    const instructions = 'x'.repeat(100_000)
    expect(refusal(instructions, 10)?.message).toContain(`take ${size(instructions)} bytes`)
  })

  it('admits none of no bytes', () => {
    expect(refusal(undefined, 0)).toBeUndefined()
    expect(refusal('  ', 0)).toBeUndefined()
    expect(refusal('x', 0)).toBeInstanceOf(ConnectionFailure)
  })
})

/** A section, once it has found the services that are there. */
async function sectionIn(ctx: Context, serverName: string): Promise<InstructionsSection> {
  const section = new InstructionsSection(ctx, serverName)
  await turns()
  return section
}

async function published(ctx: Context, serverName: string, text: string): Promise<void> {
  const section = await sectionIn(ctx, serverName)
  section.publish(text)
}

describe('the section of instructions', () => {
  it('is in the prompt from its publication to the next one', async () => {
    const on = await host()
    const section = await sectionIn(on.ctx, 'one')
    expect((await on.prompt()).text).toBe('')
    section.publish('first')
    expect((await on.prompt()).text).toBe(framed('first'))
    section.publish('second')
    expect((await on.prompt()).text).toBe(framed('second'))
    section.publish(undefined)
    expect(await on.prompt()).toMatchObject({ text: '', sections: [] })
  })

  it.each(['{{name}}', '{{', '}} {{ }}', '{{{nested}}}', '{{mcp_instructions_6f6e65}}', '${x} {a} %s'])(
    'is literal: %s',
    async (text) => {
      const on = await host()
      await published(on.ctx, 'one', text)
      expect((await on.prompt()).text).toBe(framed(text))
    },
  )

  it('is literal whatever it says', async () => {
    const on = await host()
    const section = await sectionIn(on.ctx, 'one')
    const piece = fc.constantFrom('{', '}', '{{', '}}', 'name', '\n', '_', ' ', '\\', '$&', '字')
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 12 }), async (pieces) => {
        const text = `x${pieces.join('')}x`
        section.publish(text)
        expect((await on.prompt()).text).toBe(framed(text))
      }),
    )
  })

  it('stays where it is when the same text is published again', async () => {
    const on = await host()
    let changes = 0
    on.ctx.on('system-prompt/change' as 'internal/plugin', () => void changes++)
    const section = await sectionIn(on.ctx, 'one')
    section.publish('same')
    const after = changes
    section.publish('  same\n')
    expect(changes).toBe(after)
  })

  it('goes with the plugin that it belongs to', async () => {
    const on = await host()
    const plugin = await on.mount({
      name: 'owner',
      apply: async (ctx: Context) => {
        await published(ctx, 'one', 'here')
      },
    })
    expect((await on.prompt()).text).toBe(framed('here'))
    await plugin.dispose()
    expect((await on.prompt()).text).toBe('')
  })
})

describe('the sections of several servers', () => {
  const names = ['web', 'github', 'a', 'Z', 'files_1', 'files-2']

  it('stand in an order of their own, whichever came first', async () => {
    const prompts = new Set<string>()
    for (const order of [names, names.toReversed(), names.toSorted()]) {
      const on = await host()
      for (const name of order) await published(on.ctx, name, `about ${name}`)
      prompts.add((await on.prompt()).text)
    }
    expect(prompts.size).toBe(1)
    const [prompt] = prompts
    for (const name of names) expect(prompt).toContain(framed(`about ${name}`, name))
  })

  it('keep their places when one of them changes', async () => {
    const on = await host()
    const sections = await Promise.all(names.map((name) => sectionIn(on.ctx, name)))
    for (const section of sections) section.publish('old')
    const before = (await on.prompt()).sections.map(({ name }) => name)
    sections[0]!.publish('new')
    expect((await on.prompt()).sections.map(({ name }) => name)).toEqual(before)
  })

  it('stand behind the tool guidance of the host and before what comes after it', async () => {
    const on = await host()
    on.ctx.systemPrompt.section({ name: 'before', order: 180, text: 'before' })
    on.ctx.systemPrompt.section({ name: 'after', order: 182, text: 'after' })
    for (const name of names) await published(on.ctx, name, 'x')
    const order = (await on.prompt()).sections.map(({ name }) => name)
    expect(order.at(0)).toBe('before')
    expect(order.at(-1)).toBe('after')
  })

  it('stand where a host says, which names the places of well-known sections', async () => {
    const ctx = new Context()
    onTestFinished(() => ctx.fiber.dispose())
    await ctx.plugin(LaterSystemPrompt, { includeHarnessIdentity: false })
    ctx.systemPrompt.section({ name: 'before', order: 119, text: 'before' })
    ctx.systemPrompt.section({ name: 'after', order: 121, text: 'after' })
    const section = await sectionIn(ctx, 'one')
    section.publish('{{literal}}')
    const text = async () => renderPrompt(await ctx.systemPrompt.assemble())
    expect(await text()).toBe(`before\n\n${framed('{{literal}}')}\n\nafter`)
    section.publish(undefined)
    expect(await text()).toBe('before\n\nafter')
  })

  it('stand at the end of the tool guidance where a host names places, but not this one', async () => {
    class OtherSystemPrompt extends LaterSystemPrompt {
      override getSectionOrder(): undefined {}
    }
    const ctx = new Context()
    onTestFinished(() => ctx.fiber.dispose())
    await ctx.plugin(OtherSystemPrompt, { includeHarnessIdentity: false })
    ctx.systemPrompt.section({ name: 'before', order: 180, text: 'before' })
    ctx.systemPrompt.section({ name: 'after', order: 182, text: 'after' })
    await published(ctx, 'one', '{{literal}}')
    const text = renderPrompt(await ctx.systemPrompt.assemble())
    expect(text).toBe(`before\n\n${framed('{{literal}}')}\n\nafter`)
  })
})

describe('the prompt service', () => {
  it('may come later, go, and come again', async () => {
    const ctx = new Context()
    onTestFinished(() => ctx.fiber.dispose())
    const section = await sectionIn(ctx, 'one')
    section.publish('first')
    for (const text of ['first', 'second']) {
      section.publish(text)
      const service = await ctx.plugin(SystemPrompt, { includeHarnessIdentity: false })
      await turns()
      expect(renderPrompt(await ctx.systemPrompt.assemble())).toBe(framed(text))
      await service.dispose()
    }
  })

  it('may be missing altogether', async () => {
    const ctx = new Context()
    onTestFinished(() => ctx.fiber.dispose())
    await ctx.plugin(ToolRuntime, {})
    const section = await sectionIn(ctx, 'one')
    section.publish('text')
    section.publish(undefined)
    expect(ctx.get('systemPrompt')).toBeUndefined()
  })
})

describe('the scope of a section', () => {
  it('is that of its entry: another agent does not see it, and a name may be used again', async () => {
    const on = await host()
    const [left, right] = [on.scope('left'), on.scope('right')]
    await published(on.ctx, 'everywhere', 'for all')
    await published(left.ctx, 'one', 'for the left')
    await published(right.ctx, 'one', 'for the right')
    expect((await on.prompt()).text).toBe(framed('for all', 'everywhere'))
    const leftText = (await on.prompt(left.key)).text
    expect(leftText).toContain(framed('for all', 'everywhere'))
    expect(leftText).toContain(framed('for the left'))
    expect(leftText).not.toContain('right')
    expect((await on.prompt(right.key)).text).toContain(framed('for the right'))
    await left.dispose()
    expect((await on.prompt(left.key)).text).not.toContain('for the left')
  })
})
