/**
 * Boots a composition with the real loader and include plugins, and observes it.
 *
 * Invariant: after `dispose` nothing of it is left, server processes included.
 */
import { readFile } from 'node:fs/promises'
import { basename, dirname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Context } from '@deepseek-ai/cordis'
import { Loader, ModuleLoader } from '@deepseek-ai/cordis-plugin-loader'
import { visibleLine } from '@deepseek-ai/dsh-mcp-text'
import { findLoading, findProblems, type Loading, type Problem } from './composition/problems.ts'
import { Servers } from './composition/servers.ts'
import { moduleUrl, type TreeConfig } from './composition/tree.ts'
import { CommandError } from './exit.ts'
import { fileReason } from './file-error.ts'

/** Id of the row that mounts the file. */
const ROOT_ID = 'composition'

/** What to boot. */
export interface BootOptions {
  /** The file, absolute or relative to the working directory. */
  readonly config: string
  /** Follow edits of the file and of plugins, where the composition mounts the plugin for that. Default `false`. */
  readonly isWatching?: boolean
  /** Which servers to start. Default: all. */
  readonly isWanted?: ((serverName: string) => boolean) | undefined
}

/** A composition at work. */
export interface Booted extends AsyncDisposable {
  readonly ctx: Context
  readonly servers: Servers
  /** How the file is called in messages. */
  readonly file: string
  /** Settles when every row has loaded, and every server's first attempt is over. */
  settled(): Promise<void>
  /** What has not settled yet. */
  loading(): Loading
  /** What is wrong with the rows that are not loading any more. */
  problems(): Promise<Problem[]>
  /** End everything. Idempotent. */
  dispose(): Promise<void>
}

async function checkReadable(path: string): Promise<void> {
  try {
    await readFile(path)
  } catch (error) {
    throw new CommandError(
      'unusable',
      `cannot read the composition ${visibleLine(path)}: ${visibleLine(fileReason(error))}; name a file with --config PATH`,
    )
  }
}

/**
 * Start loading a composition. Does not wait for it: see {@link Booted.settled}.
 *
 * @throws {CommandError} when the file cannot be read, or this Node was started without access to its loader.
 */
export async function boot(options: BootOptions): Promise<Booted> {
  const path = resolve(options.config)
  await checkReadable(path)
  if (ModuleLoader.fromInternal() === undefined) {
    throw new CommandError(
      'unusable',
      'Node has to be started with --expose-internals, for the loader of the composition; use the installed dsh-mcp program, or `node --expose-internals FILE`',
    )
  }
  const ctx = new Context()
  ctx.baseUrl = pathToFileURL(`${dirname(path)}/`).href
  const loading = await ctx.plugin(Loader)
  const servers = new Servers(ctx)
  const config: TreeConfig = {
    path: pathToFileURL(path).href,
    isWatching: options.isWatching ?? false,
    isWanted: options.isWanted,
  }
  await ctx.loader.create({ id: ROOT_ID, name: moduleUrl, config } as Parameters<Loader['create']>[0])
  const file = basename(path)
  const rows = { loader: ctx.loader, rootId: ROOT_ID, file }
  let disposal: Promise<void> | undefined
  const dispose = () => (disposal ??= loading.dispose())
  return {
    ctx,
    servers,
    file,
    settled: () => ctx.loader.await(),
    loading: () => findLoading(rows),
    problems: () => findProblems(rows),
    dispose,
    [Symbol.asyncDispose]: dispose,
  }
}
