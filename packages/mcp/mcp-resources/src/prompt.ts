/** The one prompt section: which servers the caller can name, and with what. */
import type { SystemPrompt, PromptSection } from '@deepseek-ai/dsh-system-prompt'
import type { ScopeKey } from '@deepseek-ai/dsh-scope'
import { nameList } from './tools.ts'

/** Where the section stands on a host that does not say: at the end of the band of tool guidance (100–199). */
const SECTION_ORDER = 180

/** Hosts after 0.1.0-rc.8 name the places of well-known sections. */
interface OrderedPrompt {
  getSectionOrder?(name: 'MCP_SERVERS'): number | undefined
}

/** What a scope sees, at the time of an assembly. */
export interface SectionView {
  /** Names of the servers. */
  servers(scope: ScopeKey | undefined): Iterable<string>
  /** Names of those of the three tools that the scope may use. */
  tools(scope: ScopeKey | undefined): string[]
}

/**
 * Builds the section. Its text is empty, which drops it from the prompt, for a scope that has none of the
 * tools, be it that it sees no server. Server names and tool names have no braces, so there is nothing in it to interpolate.
 */
export function serversSection(prompt: SystemPrompt, view: SectionView): PromptSection {
  return {
    name: 'mcp-resources:servers',
    order: (prompt as OrderedPrompt).getSectionOrder?.('MCP_SERVERS') ?? SECTION_ORDER,
    text({ scope }) {
      const tools = view.tools(scope)
      if (tools.length === 0) return ''
      return (
        `MCP servers: ${nameList(view.servers(scope))}\n` +
        `To find and read the resources of one of them, pass its name as \`server\` to ${tools.map((name) => `\`${name}\``).join(', ')}.`
      )
    },
  }
}
