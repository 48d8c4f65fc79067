/** `dsh-mcp prompt`: the MCP parts of the assembled system prompt, as the model gets them. */
import { visibleText } from '@deepseek-ai/dsh-mcp-text'
import { renderPrompt } from '@deepseek-ai/dsh-system-prompt'
import type { Outcome } from '../exit.ts'
import { inSession, missingService, reportHealth, type Common } from './session.ts'

/** Sections that come from the MCP packages, by the names that these give them. */
const MCP_SECTION = /^mcp-(?:client|resources)\b/

/** Run the command. */
export async function prompt(options: Common): Promise<Outcome> {
  const { output } = options
  return await inSession(options, {}, async (session) => {
    const systemPrompt = session.booted.ctx.get('systemPrompt')
    if (systemPrompt === undefined)
      throw missingService(session, 'assembles no system prompt', '@deepseek-ai/dsh-system-prompt')
    const assembly = await systemPrompt.assemble()
    const sections = assembly.sections
      .filter(({ name }) => MCP_SECTION.test(name))
      .map((section) => ({ name: section.name, text: renderPrompt({ ...assembly, sections: [section] }) }))
      .filter(({ text }) => text !== '')
    const text = sections.map((section) => section.text).join('\n\n')
    if (options.json) output.json({ sections, text })
    else output.result(text === '' ? 'MCP adds nothing to the system prompt.' : visibleText(text))
    return reportHealth(session)
  })
}
