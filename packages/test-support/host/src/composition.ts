/** A composition file that the real loader mounts into a test host, and takes up again when a test changes it. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Include } from '@deepseek-ai/cordis-plugin-include'
import Loader from '@deepseek-ai/cordis-plugin-loader'
import type { TestHost } from './host.ts'

/** One entry of a composition. `name` is a package or a `file:` URL. */
export interface CompositionRow {
  id: string
  name: string
  config?: unknown
  disabled?: boolean
}

/** A mounted composition. */
export interface Composition extends AsyncDisposable {
  /** The path of its `cordis.yml`, in a folder of its own. */
  readonly file: string
  /**
   * Write the file and let the include plugin read it again, as HMR does after an edit. Settles when the plugins
   * are imported and told; their activations go on.
   */
  write(rows: readonly CompositionRow[]): Promise<void>
}

/** Mount the loader into a host, and a `cordis.yml` with these rows into the loader. */
export async function mountComposition(
  host: TestHost,
  rows: readonly CompositionRow[],
): Promise<Composition> {
  const folder = await mkdtemp(join(tmpdir(), 'dsh-mcp-composition-'))
  const file = join(folder, 'cordis.yml')
  // JSON is YAML.
  const save = async (text: readonly CompositionRow[]) =>
    await writeFile(file, JSON.stringify(text, undefined, 2))
  await save(rows)
  const loader = await host.mount(Loader, { baseUrl: pathToFileURL(`${folder}/`).href })
  const include = import.meta.resolve('@deepseek-ai/cordis-plugin-include')
  const id = await host.ctx.loader.create({ name: include, config: { path: './cordis.yml' } })
  const { subtree } = host.ctx.loader.resolve(id)
  if (!(subtree instanceof Include)) throw new Error('the composition was not mounted')
  return {
    file,
    write: async (text) => {
      await save(text)
      await subtree.refresh()
    },
    [Symbol.asyncDispose]: async () => {
      await loader.dispose()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
