/**
 * `dsh-mcp run`: the status table and each server's tools; on a terminal it then stays, and says what changes.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { basename, resolve } from 'node:path'
import type { Context } from '@deepseek-ai/cordis'
import { Include } from '@deepseek-ai/cordis-plugin-include'
import type { McpClientStatus } from '@deepseek-ai/dsh-mcp-client'
import { RowsError } from '../composition/rows.ts'
import type { Outcome } from '../exit.ts'
import { renderStatus, renderStatusTable } from '../render/status.ts'
import { errorLine } from '../render/text.ts'
import { renderToolOverview } from '../render/tools.ts'
import {
  healthOf,
  inSession,
  printProblems,
  problemsBesideServers,
  type Common,
  type Session,
} from './session.ts'
import { statusRows } from './status.ts'
import { listTools } from './tools.ts'

/** Options of the command. */
export interface RunOptions extends Common {
  /** Stay until interrupted. */
  readonly isStaying: boolean
}

/** Run the command. */
export async function run(options: RunOptions): Promise<Outcome> {
  const { output, isStaying } = options
  return await inSession(options, { isWatching: isStaying }, async (session) => {
    const changes = new Changes(session)
    const rows = await statusRows(session)
    const tools = session.booted.ctx.get('tools') === undefined ? [] : listTools(session, false)
    const ofServers = tools.filter(({ server }) => server !== null)
    if (options.json) output.json({ servers: rows, tools: ofServers })
    else {
      output.result(renderStatusTable(rows, output.paint))
      if (ofServers.length > 0)
        output.result(`\n${renderToolOverview(ofServers, output.paint, output.columns)}`)
    }
    printProblems(output, problemsBesideServers(session))
    if (!isStaying) return healthOf(session, rows)
    await watch(session)
    output.note(`\nfollowing the servers and ${session.booted.file}; Ctrl-C ends everything`)
    changes.show()
    // Cordis drops the promise of a restart that an edit brings about, so that its failure is nobody's.
    const onRejection = (reason: unknown) => changes.takeError(reason)
    process.on('unhandledRejection', onRejection)
    readAgain(session)
    await delay(2 ** 31 - 1, undefined, { signal: options.interrupt }).catch(() => {})
    process.off('unhandledRejection', onRejection)
    changes.hide()
    // Ctrl-C is how this command ends.
    return 'ok'
  })
}

/** Follow edits of the file also where the composition has no row for that. */
async function watch({ booted, config, output }: Session): Promise<void> {
  const { ctx } = booted
  ctx.loader.exit = () =>
    output.note('a source file of the console itself has changed; start it again to use it')
  if (ctx.get('hmr') !== undefined) return
  const [{ default: Hmr }, { default: Timer }] = await Promise.all([
    import('@deepseek-ai/cordis-plugin-hmr'),
    import('@deepseek-ai/cordis-plugin-timer'),
  ])
  if (ctx.get('timer') === undefined) await ctx.plugin(Timer)
  await ctx.plugin(Hmr, { root: [basename(resolve(config))], ignored: [], debounce: 100 })
}

/** Take over what was edited while the servers started, which nobody watched. What is wrong with it is logged. */
function readAgain({ booted }: Session): void {
  for (const { subtree } of booted.ctx.loader.entries())
    if (subtree instanceof Include) void subtree.refresh()
}

/** Prints each change of a server, and each error that is logged: what an edit made unusable, for example. */
class Changes {
  readonly #session: Session
  readonly #held: (() => void)[] = []
  readonly #last = new Map<string, string>()
  readonly #told = new WeakSet<Error>()
  #isShown = false
  #isOver = false

  constructor(session: Session) {
    this.#session = session
    const { servers, ctx } = session.booted
    for (const name of servers.names) this.#remember(servers.status(name))
    servers.onChange((status) => this.#take(status))
    tapErrors(ctx, (error) => this.takeError(error))
  }

  /** Print what has changed since the table was made, and from now on. */
  show(): void {
    this.#isShown = true
    for (const print of this.#held.splice(0)) print()
  }

  /** Print nothing any more. */
  hide(): void {
    this.#isOver = true
  }

  /** Print what was thrown, once however often it is told. */
  takeError(thrown: unknown): void {
    const error = thrown instanceof Error ? thrown : new Error(String(thrown))
    if (this.#told.has(error)) return
    this.#told.add(error)
    const { output, booted } = this.#session
    const isAboutFile = error instanceof RowsError || error.name === 'YAMLException'
    const about = isAboutFile ? `${booted.file}: ` : ''
    this.#print(() => output.error(`${about}${errorLine(error)}`))
  }

  #take(status: McpClientStatus): void {
    if (!this.#remember(status)) return
    const { output } = this.#session
    const time = output.paint('faint', new Date().toTimeString().slice(0, 8))
    const line = `${time} ${renderStatus(status, output.paint)}`
    this.#print(() => output.result(line))
  }

  #print(print: () => void): void {
    if (this.#isOver) return
    if (this.#isShown) print()
    else this.#held.push(print)
  }

  /** Whether a status says something new: a client repeats itself after each sync of its tools. */
  #remember(status: McpClientStatus | undefined): boolean {
    if (status === undefined) return false
    const said = renderStatus(status, (_, text) => text)
    const isNew = this.#last.get(status.serverName) !== said
    this.#last.set(status.serverName, said)
    return isNew
  }
}

/** Call back with every error object that is logged; the loader and the include plugin report through the log only. */
function tapErrors(ctx: Context, take: (error: Error) => void): void {
  ctx.logger.exporter({
    levels: { default: 3 },
    export({ args }) {
      for (const arg of args as unknown[]) if (arg instanceof Error) take(arg)
    },
  })
}
