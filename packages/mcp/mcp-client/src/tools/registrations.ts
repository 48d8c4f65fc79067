/**
 * What an entry has in the tool registry, and the step from one catalog to the next.
 *
 * Owns the registrations. Invariants: a step is one synchronous diff, so that nothing that awaits can see a mix;
 * a tool that did not change keeps its registration; a refused step leaves the previous catalog whole.
 */
import type { Context } from '@deepseek-ai/cordis'
import type { ToolDefinition } from '@deepseek-ai/dsh-tools'
import type { Tool } from '@modelcontextprotocol/client'
import { CatalogError, type Catalog } from './catalog.ts'

/** What a step did, for the log. */
export interface CatalogChange {
  readonly added: number
  readonly replaced: number
  readonly removed: number
}

interface Registration {
  readonly tool: Tool
  readonly definition: ToolDefinition
  readonly unregister: () => void
}

/** Whether all that reaches the model or the wire of a listed tool is the same, the order of its fields included. */
function isSameTool(a: Tool, b: Tool): boolean {
  return textOf(a) === textOf(b)
}

function textOf({ description, inputSchema, outputSchema, annotations, execution }: Tool): string {
  return JSON.stringify([description, inputSchema, outputSchema, annotations, execution])
}

/** The registrations of one entry. */
export class ToolRegistrations {
  readonly #ctx: Context
  readonly #define: (publicName: string, tool: Tool) => ToolDefinition
  #registered: ReadonlyMap<string, Registration> = new Map()

  /** @param define - makes the registry's definition of a listed tool. */
  constructor(ctx: Context, define: (publicName: string, tool: Tool) => ToolDefinition) {
    this.#ctx = ctx
    this.#define = define
  }

  /** Tools in the registry now. */
  get size(): number {
    return this.#registered.size
  }

  /**
   * Go to the next catalog: register what is new, replace what changed, remove what is gone.
   *
   * @throws {CatalogError} when somebody else has one of the names, or what else the registry refuses a registration
   *   with; the previous catalog then stands as it was.
   */
  apply(next: Catalog): CatalogChange {
    const kept = new Map<string, Registration>()
    const fresh: { name: string; tool: Tool; definition: ToolDefinition }[] = []
    for (const [name, tool] of next) {
      const current = this.#registered.get(name)
      if (current !== undefined && isSameTool(current.tool, tool)) kept.set(name, current)
      else fresh.push({ name, tool, definition: this.#define(name, tool) })
    }
    const undo: (() => void)[] = []
    try {
      // New names first: only they can be refused for being taken, and until then nothing is removed.
      fresh.sort((a, b) => Number(this.#registered.has(a.name)) - Number(this.#registered.has(b.name)))
      for (const { name, tool, definition } of fresh) {
        const previous = this.#registered.get(name)
        previous?.unregister()
        if (previous !== undefined) undo.push(() => this.#restore(name, previous))
        const unregister = this.#register(definition)
        undo.push(unregister)
        kept.set(name, { tool, definition, unregister })
      }
    } catch (error) {
      for (const step of undo.toReversed()) step()
      throw error
    }
    const gone = [...this.#registered].filter(([name]) => !kept.has(name))
    for (const [, registration] of gone) registration.unregister()
    const replaced = fresh.filter(({ name }) => this.#registered.has(name)).length
    this.#registered = new Map([...next.keys()].map((name) => [name, kept.get(name)!]))
    return { added: fresh.length - replaced, replaced, removed: gone.length }
  }

  /** Remove every tool of the entry. */
  clear(): void {
    this.apply(new Map())
  }

  /** Register a tool. Its removal does not throw: an observer that does must not stop the step it is part of. */
  #register(definition: ToolDefinition): () => void {
    const unregister = this.#admit(definition)
    return () => {
      try {
        unregister()
      } catch (error) {
        this.#ctx.logger.warn('an observer of the tool registry failed: %s', error)
      }
    }
  }

  /** The registry's own refusal of a name tells what to do of a plugin's author, and not of who runs it. */
  #admit(definition: ToolDefinition): () => void {
    try {
      return this.#ctx.tools.register(definition)
    } catch (error) {
      if (!/ is already registered/.test((error as Error).message)) throw error
      throw new CatalogError(
        `another plugin or MCP server has a tool of the name "${definition.name}"; give this entry or the other one another serverName`,
        { cause: error },
      )
    }
  }

  #restore(name: string, previous: Registration): void {
    const unregister = this.#register(previous.definition)
    this.#registered = new Map(this.#registered).set(name, { ...previous, unregister })
  }
}
