/**
 * `pnpm build`: `lib/` (JavaScript and declarations) of every package that is published, from scratch.
 */

import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { publishedPackages } from './workspace.ts'

const packages = publishedPackages()
for (const { folder } of packages) rmSync(join(folder, 'lib'), { recursive: true, force: true })

const projects = packages.map(({ folder }) => join(folder, 'tsconfig.build.json'))
const { status } = spawnSync('tsc', ['--build', '--force', ...projects], { stdio: 'inherit' })
if (status !== 0) process.exit(1)

for (const { folder, manifest } of packages) {
  for (const file of Object.values(manifest.publishConfig?.bin ?? {})) {
    const program = join(folder, file)
    if (existsSync(program)) chmodSync(program, 0o755)
  }
}
