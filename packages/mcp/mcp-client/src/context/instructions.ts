/**
 * A server's instructions in the system prompt.
 *
 * Owns one prompt section, and the variable that carries its text where the host has no literal sections.
 * Invariants: the text is literal on every host version, braces included; it cannot leave its own markup; the same
 * instructions give the same bytes and the same place, whatever was registered before them; without instructions,
 * or without a prompt service, there is nothing.
 */
import { createHash } from 'node:crypto'
import type { Context } from '@deepseek-ai/cordis'
import { visibleText } from '@deepseek-ai/dsh-mcp-text'
// Declares ctx.systemPrompt.
import type { PromptSection, SystemPrompt } from '@deepseek-ai/dsh-system-prompt'
import { ConnectionFailure } from '../diagnostics/failure.ts'

const TAG = 'mcp-server-instructions'
const TAG_LOOKALIKE = new RegExp(`<(?=[\\s/]*${TAG})`, 'giu')

/** Where the sections stand on a host that does not say: at the end of the band of tool guidance (100 to 199). */
const SECTION_ORDER = 181

/**
 * What the prompt says for a server's instructions, or `undefined` when it has none.
 *
 * @param instructions - as the server sent them; untrusted.
 */
export function instructionsText(serverName: string, instructions: string | undefined): string | undefined {
  const text = instructions?.trim() ?? ''
  return text === '' ? undefined : attribute(serverName, visibleText(text).replace(TAG_LOOKALIKE, '\\u{3c}'))
}

function attribute(serverName: string, text: string): string {
  return `The MCP server "${serverName}" describes how to use its tools and resources:\n<${TAG} server="${serverName}">\n${text}\n</${TAG}>`
}

/**
 * Refuse a connection whose instructions are too large for the prompt.
 *
 * @param maxBytes - UTF-8 bytes of the whole text, attribution included.
 * @throws {ConnectionFailure} that gives both numbers.
 */
export function checkInstructions(
  serverName: string,
  instructions: string | undefined,
  maxBytes: number,
): void {
  const raw = instructions?.trim() ?? ''
  // Escapes only make a text longer: one that is too large without them is not escaped just to be measured.
  const isHopeless = Buffer.byteLength(raw) > maxBytes
  const text = isHopeless ? attribute(serverName, raw) : (instructionsText(serverName, raw) ?? '')
  const bytes = Buffer.byteLength(text)
  if (bytes <= maxBytes) return
  throw new ConnectionFailure(
    `the server's instructions take ${bytes} bytes, attribution included, and maxInstructionBytes admits ${maxBytes}; raise it, or ask the server's author for shorter ones`,
  )
}

/** What hosts after 0.1.0-rc.8 have in addition: places of well-known sections, and text that is not interpolated. */
interface LaterSystemPrompt extends SystemPrompt {
  getSectionOrder(name: string): number | undefined
  section(section: PromptSection & { readonly interpolate?: boolean }): () => void
}

/** The two came together, and only the first can be asked for (decision 0008). */
function isLater(systemPrompt: SystemPrompt): systemPrompt is LaterSystemPrompt {
  return typeof (systemPrompt as Partial<LaterSystemPrompt>).getSectionOrder === 'function'
}

/** A place among the sections that depends on the server's name alone, not on which was registered first. */
function sectionOrder(systemPrompt: SystemPrompt, serverName: string): number {
  const named = isLater(systemPrompt) ? systemPrompt.getSectionOrder('MCP_SERVERS') : undefined
  const base = named ?? SECTION_ORDER
  const digest = createHash('sha256').update(serverName).digest()
  return base + (digest.readUIntBE(0, 6) + 1) / 2 ** 49
}

/** The instructions section of one entry. */
export class InstructionsSection {
  readonly #serverName: string
  #prompt: Context | undefined
  #text: string | undefined
  #withdraw: (() => void) | undefined

  /** @param ctx - the entry's context; the section belongs to its scope, and comes and goes with the service. */
  constructor(ctx: Context, serverName: string) {
    this.#serverName = serverName
    ctx.inject(['systemPrompt'], (prompt) => {
      this.#prompt = prompt
      this.#show()
      return () => {
        this.#hide()
        this.#prompt = undefined
      }
    })
  }

  /** Show the instructions of the connection that was just made; the same text stays where it is. */
  publish(instructions: string | undefined): void {
    const text = instructionsText(this.#serverName, instructions)
    if (text === this.#text) return
    this.#hide()
    this.#text = text
    this.#show()
  }

  #show(): void {
    const text = this.#text
    if (this.#prompt === undefined || text === undefined) return
    const { systemPrompt } = this.#prompt
    const name = `mcp-client:instructions:${this.#serverName}`
    const order = sectionOrder(systemPrompt, this.#serverName)
    if (isLater(systemPrompt)) {
      this.#withdraw = systemPrompt.section({ name, order, text, interpolate: false })
      return
    }
    // A substituted value is not scanned for braces again, while a section's own text is.
    const variable = `mcp_instructions_${Buffer.from(this.#serverName).toString('hex')}`
    const forget = systemPrompt.variable(variable, () => text)
    const remove = systemPrompt.section({ name, order, text: `{{${variable}}}` })
    this.#withdraw = () => {
      remove()
      forget()
    }
  }

  #hide(): void {
    this.#withdraw?.()
    this.#withdraw = undefined
  }
}
