/** The MCP servers of a composition as one table: what each row's client says of itself, as it says it. */
import type { Context, Fiber } from '@deepseek-ai/cordis'
import type { Loader } from '@deepseek-ai/cordis-plugin-loader'
import type { McpClientStatus, McpClientStatusKind } from '@deepseek-ai/dsh-mcp-client'
import { visibleLine } from '@deepseek-ai/dsh-mcp-text'
import { CLIENT_NAME } from './tree.ts'

/** One server. */
export interface ServerRow {
  readonly serverName: string
  readonly transport: string | null
  readonly status: McpClientStatusKind
  readonly protocolVersion: string | null
  readonly toolCount: number
  /** Resources that the server lists; `null` where that is not known. */
  readonly resourceCount: number | null
  /** From the first attempt to the first connection, in ms. */
  readonly connectMs: number | null
  readonly error: string | null
}

interface Timed {
  readonly status: McpClientStatus
  readonly startedAt: number
  readonly connectedAt: number | undefined
}

/** Follows the status of every server. */
export class Servers {
  readonly #ctx: Context
  readonly #timed = new Map<string, Timed>()
  readonly #listeners = new Set<(status: McpClientStatus) => void>()

  constructor(ctx: Context) {
    this.#ctx = ctx
    ctx.on('mcp-client/status', (status) => this.#note(status))
  }

  /** The names of the servers that the composition configures, in the order of its rows. */
  get names(): string[] {
    return this.#fibers().map(nameOf)
  }

  /** The latest status of a server, when it has said anything yet. */
  status(serverName: string): McpClientStatus | undefined {
    return this.#timed.get(serverName)?.status
  }

  /** Names of the servers that have not got beyond their first attempt. */
  get connecting(): string[] {
    return this.names.filter((name) => this.status(name)?.status === 'connecting')
  }

  /** Call a listener with every change from now on. */
  onChange(listener: (status: McpClientStatus) => void): void {
    this.#listeners.add(listener)
  }

  /** One row for each server, in the order of the composition. */
  rows(): ServerRow[] {
    return this.#fibers().map((fiber) => {
      const timed = this.#timed.get(nameOf(fiber))
      const { status, toolCount = 0, protocolVersion = null, error = null } = timed?.status ?? {}
      return {
        serverName: nameOf(fiber),
        transport: transportOf(fiber),
        status: status ?? 'connecting',
        protocolVersion,
        toolCount,
        resourceCount: null,
        connectMs: timed?.connectedAt === undefined ? null : Math.round(timed.connectedAt - timed.startedAt),
        error,
      }
    })
  }

  #note(status: McpClientStatus): void {
    const { serverName } = status
    const before = this.#timed.get(serverName)
    if (status.status === 'disposed') this.#timed.delete(serverName)
    else {
      const startedAt = before?.startedAt ?? performance.now()
      const connectedAt =
        before?.connectedAt ?? (status.status === 'connected' ? performance.now() : undefined)
      this.#timed.set(serverName, { status, startedAt, connectedAt })
    }
    for (const listener of this.#listeners) listener(status)
  }

  /** The clients that are mounted, by the rows of the composition first. */
  #fibers(): Fiber[] {
    const rows = [...(this.#ctx.get('loader') as Loader).entries()]
    const place = (fiber: Fiber) => {
      const index = rows.findIndex((entry) => entry === fiber.entry)
      return index === -1 ? rows.length : index
    }
    return [...this.#ctx.registry.values()]
      .filter(({ name }) => name === CLIENT_NAME)
      .flatMap(({ fibers }) => [...fibers])
      .toSorted((a, b) => place(a) - place(b))
  }
}

/** The configuration as far as it is known: resolved, or as it was written. */
function configOf(fiber: Fiber): { serverName?: unknown; transport?: unknown } {
  return ((fiber.config as object | undefined) ?? (fiber._config as object | undefined) ?? {}) as object
}

/** The configured name of a client's server, or the id of its row. */
export function nameOf(fiber: Fiber): string {
  const { serverName } = configOf(fiber)
  return visibleLine(
    typeof serverName === 'string' ? serverName : (fiber.entry?.options.id ?? CLIENT_NAME),
    40,
  )
}

function transportOf(fiber: Fiber): string | null {
  const { transport } = configOf(fiber)
  return typeof transport === 'string' ? visibleLine(transport, 40) : null
}
