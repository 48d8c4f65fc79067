/**
 * What the scripts know of this workspace: where it is, which packages it publishes, how its pnpm is run.
 */

import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Absolute path of the repository. */
export const root = fileURLToPath(new URL('..', import.meta.url)).replace(/[\\/]$/, '')

/** An `exports` value: a file, or conditions that lead to one. */
export type ExportTarget = string | { readonly [condition: string]: ExportTarget }

/** The fields of a package.json that the scripts read. */
export interface Manifest {
  readonly name: string
  readonly version: string
  readonly private?: boolean
  readonly packageManager?: string
  readonly bin?: Readonly<Record<string, string>>
  readonly exports?: Readonly<Record<string, ExportTarget>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
  readonly publishConfig?: Pick<Manifest, 'bin' | 'exports'>
}

/** Read the package.json of a folder. */
export function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
}

/** The packages that are published, in a stable order. */
export function publishedPackages(): { folder: string; manifest: Manifest }[] {
  return globSync('packages/*/*/package.json', { cwd: root })
    .toSorted()
    .map((file) => join(root, dirname(file)))
    .map((folder) => ({ folder, manifest: readManifest(folder) }))
    .filter(({ manifest }) => manifest.private !== true)
}

/**
 * Run the pinned pnpm and return what it printed.
 *
 * @throws Error with everything it printed when it fails.
 */
export function pnpm(args: readonly string[], cwd: string): string {
  const pinned = readManifest(root).packageManager ?? 'pnpm'
  const { status, stdout, stderr, error } = spawnSync('npx', ['--yes', pinned, ...args], {
    cwd,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`pnpm ${args.join(' ')} failed\n${stdout}${stderr}`, { cause: error })
  return stdout
}
