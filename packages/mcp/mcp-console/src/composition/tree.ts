/**
 * The composition as the console mounts it: the include plugin on the given file, with a few differences.
 *
 * It never writes to the file; it starts no file watcher for a command that ends by itself; it lets an edit come to
 * its end before it reads it, and refuses one with rows that no loader can take; and it can leave out the servers
 * that a command does not need. A plugin that is not installed beside the file is taken from the console's own
 * dependencies, so that a file with nothing around it works.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Context } from '@deepseek-ai/cordis'
import { Include } from '@deepseek-ai/cordis-plugin-include'
import { CLIENT_NAME } from './client-fiber.ts'
import { CheckedRows } from './rows.ts'

/** Where this module is; the loader imports it by that. */
export const moduleUrl = import.meta.url

/** The plugin that watches files. */
const WATCHER = '@deepseek-ai/cordis-plugin-hmr'

/** From the first sign of an edit to reading the file, in ms. */
const SETTLE_MS = 100

/** How to mount a composition. */
export interface TreeConfig extends Include.Config {
  /** Start the file watcher that the composition mounts. */
  isWatching: boolean
  /** Whether a server is needed. Default: every server is. */
  isWanted?: ((serverName: string) => boolean) | undefined
}

/** What is used of a plugin that is a namespace. */
interface NamespacePlugin {
  readonly name?: unknown
  readonly apply?: (ctx: Context, config: { serverName: string }) => Promise<void>
}

/** The include plugin of the console. */
export default class CompositionTree extends Include {
  /** How the log calls it. */
  static override readonly name = 'composition'
  declare config: TreeConfig
  readonly #narrowed = new Map<NamespacePlugin, NamespacePlugin>()

  /** @param config - passed by the loader as it was given to it. */
  constructor(ctx: Context, config: TreeConfig) {
    super(ctx, config)
    this.root = new CheckedRows(this.ctx, this)
  }

  override async import(name: string, getOuterStack?: () => string[]): Promise<unknown> {
    if (name === WATCHER && !this.config.isWatching) return { name: 'no-watcher', apply: () => {} }
    const plugin = (await this.#import(name, getOuterStack)) as NamespacePlugin | undefined
    const { isWanted } = this.config
    // The watcher finds a plugin again by its identity, so it is narrowed only where that is asked for.
    return isWanted !== undefined && plugin?.name === CLIENT_NAME ? this.#narrow(plugin, isWanted) : plugin
  }

  /**
   * The watcher reports an edit at its first write and drops what follows within 50 ms. Editors empty a file before
   * they fill it, so that reading at once can find it empty and never learn of the rest.
   */
  override async refresh(): Promise<void> {
    await delay(SETTLE_MS)
    await super.refresh()
  }

  /** The file belongs to its author: what the loader would note down in it (ids, disabled rows) stays in memory. */
  override write(): void {
    this.context.emit('loader/config-update')
  }

  async #import(name: string, getOuterStack?: () => string[]): Promise<unknown> {
    try {
      return await super.import(name, getOuterStack)
    } catch (error) {
      if (!isMissing(error, name)) throw error
      return await import(name).catch(() => Promise.reject(error))
    }
  }

  /** The same plugin, which does nothing for a server that is not wanted. Its configuration is still checked. */
  #narrow(plugin: NamespacePlugin, isWanted: (serverName: string) => boolean): NamespacePlugin {
    const known = this.#narrowed.get(plugin)
    if (known !== undefined) return known
    const narrowed: NamespacePlugin = {
      ...plugin,
      apply: async (ctx, config) => {
        if (isWanted(config.serverName)) await plugin.apply?.(ctx, config)
      },
    }
    this.#narrowed.set(plugin, narrowed)
    return narrowed
  }
}

/** Whether an import failed because this very package is not installed, and not because of something in it. */
function isMissing(error: unknown, name: string): boolean {
  const { code, message } = error as NodeJS.ErrnoException
  const [packageName] = /^(?:@[^/]+\/)?[^./][^/]*/.exec(name) ?? []
  return code === 'ERR_MODULE_NOT_FOUND' && packageName !== undefined && message.includes(`'${packageName}'`)
}
