/** The MCP servers of a composition as one table: what each row's client says of itself, as it says it. */
import type { Context, Fiber } from '@deepseek-ai/cordis'
import type { Loader } from '@deepseek-ai/cordis-plugin-loader'
import type { McpClientStatus, McpClientStatusKind } from '@deepseek-ai/dsh-mcp-client'
import { CLIENT_NAME, nameOf, transportOf } from './client-fiber.ts'
import type { Problem } from './problems.ts'

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

/** What is known of one server over time. */
interface Course {
  readonly status: McpClientStatus
  /** Why the last attempt failed, while there is no connection. */
  readonly error: string | null
  readonly startedAt: number
  readonly connectedAt: number | undefined
}

/** The row of a server that has not said anything yet. */
const NOTHING = {
  status: 'connecting',
  protocolVersion: null,
  toolCount: 0,
  resourceCount: null,
  connectMs: null,
  error: null,
} as const

/** Follows the status of every server. */
export class Servers {
  readonly #ctx: Context
  readonly #courses = new Map<string, Course>()
  readonly #listeners = new Set<(status: McpClientStatus) => void>()

  constructor(ctx: Context) {
    this.#ctx = ctx
    ctx.on('mcp-client/status', (status) => this.#note(status))
  }

  /** The names of the servers that the composition configures, in the order of its rows. */
  get names(): string[] {
    return [...new Set(this.#fibers().map(nameOf))]
  }

  /** The latest status of a server, when it has said anything yet. */
  status(serverName: string): McpClientStatus | undefined {
    return this.#courses.get(serverName)?.status
  }

  /** Call a listener with every change from now on. */
  onChange(listener: (status: McpClientStatus) => void): void {
    this.#listeners.add(listener)
  }

  /**
   * One row for each server, in the order of the composition.
   *
   * @param problems - rows that are not running; their servers have failed.
   */
  rows(problems: readonly Problem[]): ServerRow[] {
    return this.#fibers().map((fiber) => {
      const serverName = nameOf(fiber)
      const transport = transportOf(fiber)
      const problem = problems.find((candidate) => candidate.fiber === fiber)
      if (problem !== undefined) {
        return { serverName, transport, ...NOTHING, status: 'failed', error: problem.message }
      }
      const course = this.#courses.get(serverName)
      if (course === undefined) return { serverName, transport, ...NOTHING }
      const { status, error, startedAt, connectedAt } = course
      return {
        serverName,
        transport,
        status: status.status,
        protocolVersion: status.protocolVersion ?? null,
        toolCount: status.toolCount,
        resourceCount: null,
        connectMs: connectedAt === undefined ? null : Math.round(connectedAt - startedAt),
        error,
      }
    })
  }

  #note(status: McpClientStatus): void {
    const { serverName } = status
    const before = this.#courses.get(serverName)
    if (status.status === 'disposed') {
      this.#courses.delete(serverName)
    } else {
      const isConnected = status.status === 'connected'
      this.#courses.set(serverName, {
        status,
        error: isConnected ? null : (status.error ?? before?.error ?? null),
        startedAt: before?.startedAt ?? performance.now(),
        connectedAt: before?.connectedAt ?? (isConnected ? performance.now() : undefined),
      })
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
