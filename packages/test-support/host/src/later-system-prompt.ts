/**
 * The prompt service with what hosts after 0.1.0-rc.8 have in addition. No release with it is published, so that
 * it is added to the published service here: places of well-known sections by name, and sections whose text is
 * not interpolated.
 */
import SystemPrompt from '@deepseek-ai/dsh-system-prompt'
import type { AssembleContext, PromptAssembly, PromptSection } from '@deepseek-ai/dsh-system-prompt'

/** See the module. */
export class LaterSystemPrompt extends SystemPrompt {
  readonly literalSections = new Set<string>()

  getSectionOrder(name: string): number | undefined {
    return name === 'MCP_SERVERS' ? 120 : undefined
  }

  override section(section: PromptSection & { readonly interpolate?: boolean }): () => void {
    if (section.interpolate === false) this.literalSections.add(section.name)
    return super.section(section)
  }

  /** The published renderer leaves only the values of variables as they are, so that literal texts become some. */
  override async assemble(context?: AssembleContext): Promise<PromptAssembly> {
    const assembly = await super.assemble(context)
    for (const [index, section] of assembly.sections.entries()) {
      if (!this.literalSections.has(section.name)) continue
      assembly.variables[`literal_${index}`] = section.text
      section.text = `{{literal_${index}}}`
    }
    return assembly
  }
}
