/**
 * Keeps one listing of a server within bounds while the SDK collects its pages.
 *
 * The SDK bounds how many pages a list may have, but neither what they hold nor how long they take. Invariants: a
 * page is looked at before the SDK does; a list that passes a bound fails whole, with the bound in words; what one
 * tool does wrong costs that tool alone, and is reported.
 */
import { visibleLine } from '@deepseek-ai/dsh-mcp-text'
import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import type { Redactor } from '../diagnostics/redactor.ts'
import { MAX_SCHEMA_DEPTH } from '../tools/model-schema.ts'

/** Pages that a list may have; the SDK ends a longer one with an error. */
export const MAX_LIST_PAGES = 1000

/** Entries that a list may have, all pages together. */
export const MAX_LIST_ENTRIES = 20_000

/** What the pages of a list may take together, roughly in bytes of JSON. */
export const MAX_LIST_BYTES = 134_217_728

/** How long the list of tools may take, all pages together, in ms. */
export const MAX_LIST_MS = 120_000

/** What a node of JSON costs besides its text, in bytes. */
const NODE_BYTES = 8

/** How many tools a report names. */
const MAX_REPORTED = 10

/** The lists of the protocol, by the field that holds their entries. */
export type ListKind = 'tools' | 'resources' | 'resourceTemplates'

/** Thrown when a list passes a bound. */
export class ListingError extends Error {
  override readonly name = 'ListingError'
}

/** One listing, from its first request to its last page. */
export class Listing {
  readonly #kind: ListKind
  readonly #usesHeaders: boolean
  readonly #redactor: Redactor
  readonly #abort = new AbortController()
  /** Tools by name, and why they are left out; most are not. */
  readonly #seen = new Map<string, string | undefined>()
  /** What was done to tools that are listed nevertheless. */
  readonly #changes: string[] = []
  #entries = 0
  #bytes = 0
  #failure: ListingError | undefined

  /**
   * @param kind - whose pages to look at; those of another listing of the same kind count as its own.
   * @param usesHeaders - whether the protocol revision has custom headers: then the SDK prints what is wrong with
   *   the declaration of one, with the server's own words in it.
   * @param redactor - takes the secrets out of what is reported.
   */
  constructor(kind: ListKind, usesHeaders: boolean, redactor: Redactor) {
    this.#kind = kind
    this.#usesHeaders = usesHeaders
    this.#redactor = redactor
  }

  /**
   * Collect the list.
   *
   * @param run - asks the SDK for the list, until the signal aborts.
   * @param signal - ends the listing from outside.
   * @param maxMs - how long it may take, in ms.
   * @throws {ListingError} when a bound is passed.
   * @throws whatever `run` throws.
   */
  async collect<Result>(
    run: (signal: AbortSignal) => Promise<Result>,
    signal: AbortSignal,
    maxMs: number,
  ): Promise<Result> {
    const timer = setTimeout(() => this.#fail(`took longer than ${maxMs} ms`), maxMs)
    try {
      return await run(AbortSignal.any([signal, this.#abort.signal]))
    } catch (error) {
      throw this.#failure ?? error
    } finally {
      clearTimeout(timer)
    }
  }

  /** Look at a message before the SDK does. A page that passes a bound, or holds what the SDK must not see, is changed. */
  inspect(message: JSONRPCMessage): void {
    if (!('result' in message)) return
    const page = message.result[this.#kind]
    if (!Array.isArray(page)) return
    this.#entries += page.length
    if (this.#entries > MAX_LIST_ENTRIES) this.#fail(`has more than ${MAX_LIST_ENTRIES} entries`)
    if (this.#abort.signal.aborted) {
      message.result = { ...message.result, [this.#kind]: [] }
      return
    }
    const kept = page.flatMap((entry: unknown) => this.#admit(entry))
    message.result = { ...message.result, [this.#kind]: kept }
    if (this.#bytes > MAX_LIST_BYTES) this.#fail(`has more than ${MAX_LIST_BYTES} bytes`)
  }

  /**
   * What is to be said about a list that was collected: tools that are not in it, and tools that are not as the
   * server listed them.
   *
   * @param names - of the tools that the SDK returned.
   */
  report(names: Iterable<string>): string[] {
    const listed = new Set(names)
    const missing = [...this.#seen].flatMap(([name, reason]) =>
      // The SDK leaves tools out for one reason only (basic/transports, custom headers from tool parameters).
      listed.has(name)
        ? []
        : [`${this.#show(name)} is left out: ${reason ?? 'its x-mcp-header declarations are invalid'}`],
    )
    const all = [...missing, ...this.#changes]
    if (all.length <= MAX_REPORTED) return all
    return [
      ...all.slice(0, MAX_REPORTED),
      `and ${all.length - MAX_REPORTED} more tools are left out or changed`,
    ]
  }

  #fail(what: string): void {
    const list = this.#kind === 'resourceTemplates' ? 'resource templates' : this.#kind
    this.#failure ??= new ListingError(`the server's list of ${list} ${what}`)
    this.#abort.abort(this.#failure)
  }

  /** The entry as the SDK may see it; nothing when it may not. */
  #admit(entry: unknown): unknown[] {
    const { bytes, depth, hasHeaders } = measure(entry)
    this.#bytes += bytes
    if (this.#kind !== 'tools' || typeof entry !== 'object' || entry === null) return [entry]
    const { name, ...tool } = entry as { name?: unknown }
    if (typeof name !== 'string') return [entry]
    if (this.#usesHeaders && hasHeaders && !isPrintable(name, tool)) {
      this.#seen.set(name, 'its x-mcp-header declarations hold hidden characters')
      return []
    }
    this.#seen.set(name, undefined)
    return [depth > MAX_SCHEMA_DEPTH ? this.#flatten(entry, name) : entry]
  }

  /** A tool without what is nested too deeply for the SDK and the host to walk. */
  #flatten(tool: object, name: string): unknown {
    const isDeep = ([, value]: [string, unknown]) => measure(value).depth >= MAX_SCHEMA_DEPTH
    const deep = Object.entries(tool).filter(isDeep)
    const fields = deep.map(([field]) => this.#redactor.line(field, 40)).join(', ')
    this.#changes.push(
      `${this.#show(name)} is nested more than ${MAX_SCHEMA_DEPTH} levels deep in ${fields}, which is ignored`,
    )
    const flat = Object.fromEntries(Object.entries(tool).filter((field) => !isDeep(field)))
    return { inputSchema: { type: 'object' }, ...flat }
  }

  #show(name: string): string {
    return `tool ${JSON.stringify(this.#redactor.line(name, 100))}`
  }
}

interface Measure {
  bytes: number
  /** Levels of nesting; a string or number has one. No further than is needed to know that they are too many. */
  depth: number
  /** Whether there is an `x-mcp-header` in it. */
  hasHeaders: boolean
}

/** Level by level, because a recursive walk would end with the stack. */
function measure(value: unknown): Measure {
  const found: Measure = { bytes: 0, depth: 0, hasHeaders: false }
  for (let level = [value]; level.length > 0 && found.depth <= MAX_SCHEMA_DEPTH; found.depth++) {
    const next: unknown[] = []
    for (const node of level) {
      found.bytes += NODE_BYTES
      if (typeof node === 'string') found.bytes += node.length
      if (typeof node !== 'object' || node === null) continue
      for (const [key, child] of Object.entries(node)) {
        found.bytes += key.length
        found.hasHeaders ||= key === 'x-mcp-header'
        next.push(child)
      }
    }
    level = next
  }
  return found
}

/** Whether everything of a tool that the SDK may print about its headers can be printed as it is. */
function isPrintable(name: string, tool: object): boolean {
  const texts = [name]
  for (let level: unknown[] = [tool], depth = 0; level.length > 0 && depth <= MAX_SCHEMA_DEPTH; depth++) {
    const entries = level.flatMap((node) =>
      typeof node === 'object' && node !== null ? Object.entries(node) : [],
    )
    for (const [key, value] of entries) {
      texts.push(key)
      if ((key === 'x-mcp-header' || key === 'type') && typeof value === 'string') texts.push(value)
    }
    level = entries.map(([, value]) => value)
  }
  return texts.every((text) => visibleLine(text, text.length) === text)
}
