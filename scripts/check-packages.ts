/**
 * `pnpm check:packages`: what would be published works for somebody who has nothing but Node.
 *
 * Builds and packs every published package, installs the tarballs into an empty folder outside of the
 * repository, and there looks at their files, imports every export on both supported lines of Node, starts
 * their programs and typechecks a consumer. Each package is installed for a project of its own that sees only
 * what the package declares, so an undeclared dependency or peer is a failed import and not a lucky one.
 */

import { spawnSync } from 'node:child_process'
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { delimiter, dirname, join, sep } from 'node:path'
import { pnpm, publishedPackages, readManifest, root, type ExportTarget, type Manifest } from './workspace.ts'

/** Newest release of the oldest line that the packages support; the workspace's own Node is the other one. */
const oldestNode = '22.23.3'

/** One package, packed and installed for a consumer of its own. */
interface Installed {
  readonly name: string
  readonly version: string
  /** Folder of the consumer project. */
  readonly project: string
  /** Folder of the installed package. */
  readonly folder: string
  readonly manifest: Manifest
}

const problems: string[] = []

/** Folder with the `node` of {@link oldestNode}, fetched when it is not there yet. */
function oldestNodeBin(): string {
  const folder = join(root, 'node_modules', '.cache', `node-${oldestNode}`)
  const bin = join(folder, 'node_modules', '.bin')
  if (!existsSync(join(bin, 'node'))) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true }))
    const args = ['install', '--no-save', '--ignore-scripts=false', '--prefix', folder, `node@${oldestNode}`]
    const { status, stdout, stderr } = spawnSync('npm', args, { cwd: folder, encoding: 'utf8' })
    if (status !== 0) throw new Error(`cannot install Node ${oldestNode}\n${stdout}${stderr}`)
  }
  return bin
}

/** Run a program and record its output as a problem when it fails; returns its stdout. */
function run(what: string, command: string, args: readonly string[], cwd: string, path = ''): string {
  const env = { ...process.env, PATH: `${path}${delimiter}${process.env['PATH']}`, NODE_OPTIONS: '' }
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, env, encoding: 'utf8' })
  if (status !== 0)
    problems.push(`${what}\n${(error?.message ?? stderr + stdout).trimEnd().replaceAll(/^/gm, '    ')}`)
  return stdout ?? ''
}

/** Versions by package name, from the catalog that the workspace is tested with. */
function catalog(): Map<string, string> {
  const text = readFileSync(join(root, 'pnpm-workspace.yaml'), 'utf8')
  return new Map(
    [...text.matchAll(/^ {2}'?([^':\s]+)'?: (\S+)$/gm)].map(([, name, version]) => [name!, version!]),
  )
}

/** Pack all packages and install each into a project of its own below an empty folder. */
function install(folder: string): Installed[] {
  const tarballs = join(folder, 'tarballs')
  pnpm(['--filter', './packages/mcp/*', 'pack', '--pack-destination', tarballs], root)

  const packages = publishedPackages().map(({ manifest }) => {
    const { name, version } = manifest
    const tarball = join(tarballs, `${name.replace('@', '').replace('/', '-')}-${version}.tgz`)
    return { manifest, name, version, tarball, project: join(folder, 'consumers', name.replace('/', '+')) }
  })
  const versions = catalog()
  for (const { name, tarball, project, manifest } of packages) {
    const peers = Object.keys(manifest.peerDependencies ?? {}).filter(
      (peer) => manifest.peerDependenciesMeta?.[peer]?.optional !== true && versions.has(peer),
    )
    const dependencies = {
      ...Object.fromEntries(peers.map((peer) => [peer, versions.get(peer)])),
      [name]: `file:${tarball}`,
    }
    mkdirSync(project, { recursive: true })
    writeFileSync(
      join(project, 'package.json'),
      JSON.stringify({ private: true, type: 'module', dependencies }),
    )
  }
  const settings = {
    packages: ['consumers/*'],
    // Nothing is visible that was not declared, and a peer outside of the declared range is an error.
    hoist: false,
    strictPeerDependencies: true,
    nodeVersion: oldestNode,
    engineStrict: true,
    // Names of ours that the registry may know as well.
    overrides: Object.fromEntries(packages.map(({ name, tarball }) => [name, `file:${tarball}`])),
  }
  writeFileSync(join(folder, 'pnpm-workspace.yaml'), JSON.stringify(settings))
  const devDependencies = { '@types/node': versions.get('@types/node') }
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, devDependencies }))
  pnpm(['install', '--prefer-offline', '--no-frozen-lockfile'], folder)

  return packages.map(({ name, version, project }) => {
    const installed = join(project, 'node_modules', name)
    return { name, version, project, folder: installed, manifest: readManifest(installed) }
  })
}

/** All files that an `exports` value leads to. */
function targets(target: ExportTarget): string[] {
  return typeof target === 'string' ? [target] : Object.values(target).flatMap(targets)
}

function checkFiles({ name, folder, manifest }: Installed): void {
  const files = globSync('**/*', { cwd: folder }).filter(
    (file) => !file.startsWith(`node_modules${sep}`) && statSync(join(folder, file)).isFile(),
  )
  const problem = (text: string) => problems.push(`${name}: ${text}`)

  const promised = Object.values(manifest.exports ?? {})
    .flatMap(targets)
    .concat(Object.values(manifest.bin ?? {}))
  for (const file of ['README.md', 'README.zh.md', 'LICENSE', ...promised]) {
    if (!existsSync(join(folder, file))) problem(`has no ${file}`)
  }
  for (const file of files) {
    if (/(^|\/)(tests?|src)\/|\.(spec|e2e)\.|tsbuildinfo|tsconfig/.test(file)) problem(`ships ${file}`)
    if (file.endsWith('.js') && !files.includes(file.replace(/js$/, 'd.ts'))) problem(`${file} has no types`)
    const text = readFileSync(join(folder, file), 'utf8')
    for (const path of [root, `${homedir()}/`]) {
      if (text.includes(path)) problem(`${file} names ${path}, a path of this machine`)
    }
  }
  if (/"(workspace|catalog):/.test(readFileSync(join(folder, 'package.json'), 'utf8'))) {
    problem('package.json has a range that only this workspace understands')
  }
}

/** Import specifiers of everything that a package exports. */
function specifiers({ name, manifest }: Installed): string[] {
  return Object.keys(manifest.exports ?? {}).map((subpath) => name + subpath.slice(1))
}

function checkImports(installed: Installed, node: string, path: string): void {
  for (const specifier of specifiers(installed)) {
    const attributes = specifier.endsWith('.json') ? ", { with: { type: 'json' } }" : ''
    const script = `await import(${JSON.stringify(specifier)}${attributes}).catch((error) => { console.error(error.message); process.exit(1) })`
    run(
      `${specifier} cannot be imported on Node ${node}`,
      'node',
      ['--input-type=module', '--eval', script],
      installed.project,
      path,
    )
  }
}

function checkPrograms(
  { name, version, project, folder, manifest }: Installed,
  node: string,
  path: string,
): void {
  for (const [program, file] of Object.entries(manifest.bin ?? {})) {
    if (!existsSync(join(folder, file))) continue
    const what = `${name}: ${program} --version does not work on Node ${node}`
    const known = problems.length
    const output = run(what, join(project, 'node_modules', '.bin', program), ['--version'], project, path)
    if (problems.length === known && !output.includes(version))
      problems.push(`${what}: it printed ${JSON.stringify(output)}`)
  }
}

/** Typecheck one consumer of everything, our declarations included, without judging those of other packages. */
function checkTypes(folder: string, packages: readonly Installed[]): void {
  for (const installed of packages) {
    const modules = specifiers(installed).filter((specifier) => !specifier.endsWith('.json'))
    const lines = modules.map((specifier, index) => `import * as m${index} from '${specifier}'`)
    const uses = modules.map((_, index) => `m${index}`).join(', ')
    writeFileSync(
      join(installed.project, 'consumer.ts'),
      `${lines.join('\n')}\nexport const used: object[] = [${uses}]\n`,
    )
  }
  const { compilerOptions } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8')) as {
    compilerOptions: object
  }
  const options = { ...compilerOptions, skipLibCheck: false }
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: options, include: ['consumers/*/*.ts'] }),
  )
  const { status, stdout } = spawnSync('tsc', ['-p', '.', '--pretty', 'false'], {
    cwd: folder,
    encoding: 'utf8',
  })
  const ours = stdout.split(/\n(?=\S)/).filter((line) => {
    const file = line.split('(')[0] ?? ''
    return (
      !file.includes('node_modules') || packages.some(({ name }) => file.includes(`node_modules/${name}/`))
    )
  })
  if (status !== 0)
    problems.push(...ours.filter((line) => line.trim() !== '').map((line) => `types: ${line}`))
}

const folder = mkdtempSync(join(tmpdir(), 'dsh-mcp-packages-'))
try {
  run('pnpm build failed', process.execPath, [join(root, 'scripts', 'build.ts')], root)
  if (problems.length === 0) {
    const nodes = [
      { node: oldestNode, path: oldestNodeBin() },
      { node: process.versions.node, path: dirname(process.execPath) },
    ]
    const packages = install(folder)
    for (const installed of packages) {
      const before = problems.length
      checkFiles(installed)
      for (const { node, path } of nodes) {
        checkImports(installed, node, path)
        checkPrograms(installed, node, path)
      }
      const verdict = problems.length === before ? 'ok    ' : 'FAILED'
      process.stdout.write(
        `${verdict} ${installed.name} ${installed.version} on Node ${nodes.map(({ node }) => node).join(' and ')}\n`,
      )
    }
    checkTypes(folder, packages)
  }
} catch (error) {
  problems.push(error instanceof Error ? error.message : String(error))
} finally {
  rmSync(folder, { recursive: true, force: true })
}
for (const problem of problems) process.stdout.write(`problem: ${problem}\n`)
process.exitCode = problems.length === 0 ? 0 : 1
