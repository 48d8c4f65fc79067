/** The real script with the real pnpm, in a workspace of its own that needs no package from a registry. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readManifest, root } from '../workspace.ts'

const workspace = mkdtempSync(join(tmpdir(), 'with-workspace-'))

/** As `npm start --silent` would start it; what the workspace was installed with need not be looked up again. */
function start(...args: string[]) {
  const env = { ...process.env, npm_config_loglevel: 'silent', npm_config_prefer_offline: 'true' }
  const child = spawn(process.execPath, ['scripts/with-workspace.mjs', ...args], { cwd: workspace, env })
  const result = Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]).then(
    ([stdout, stderr, [code, signal]]) => ({
      stdout,
      stderr,
      code: code as number | null,
      signal: signal as string | null,
    }),
  )
  return { child, result }
}

const run = (...args: string[]) => start(...args).result

const { packageManager } = readManifest(root)
const manifest = { private: true, packageManager, dependencies: { node: 'link:./runtime' } }
const lockfile = `lockfileVersion: '9.0'

importers:

  .:
    dependencies:
      node:
        specifier: link:./runtime
        version: link:runtime
`

function write(file: string, content: string | object) {
  writeFileSync(join(workspace, file), typeof content === 'string' ? content : JSON.stringify(content))
}

beforeAll(() => {
  cpSync(join(root, 'scripts', 'with-workspace.mjs'), join(workspace, 'scripts', 'with-workspace.mjs'))
  mkdirSync(join(workspace, 'runtime', 'bin'), { recursive: true })
  symlinkSync(process.execPath, join(workspace, 'runtime', 'bin', 'node'))
  write('runtime/package.json', { name: 'node', version: '1.0.0', bin: 'bin/node' })
  write('package.json', manifest)
  write('pnpm-workspace.yaml', 'pmOnFail: ignore\n')
  write('pnpm-lock.yaml', lockfile)
})

afterAll(() => rmSync(workspace, { recursive: true, force: true }))

it('installs once for three at once that follow a dead one, and keeps stdout for the command', async () => {
  write('.install-lock', '2147483647')
  const results = await Promise.all([
    run('node', '-p', '"a"'),
    run('node', '-p', '"b"'),
    run('node', '-p', '"c"'),
  ])
  expect(results.map(({ stdout, code }) => [stdout, code])).toEqual([
    ['a\n', 0],
    ['b\n', 0],
    ['c\n', 0],
  ])
  expect(results.filter(({ stderr }) => stderr.includes('Installing'))).toHaveLength(1)
})

it('does not install again when nothing changed, and does when the workspace settings did', async () => {
  await run('true')
  expect((await run('true')).stderr).toBe('')
  write('pnpm-workspace.yaml', 'pmOnFail: ignore\n# changed\n')
  expect((await run('true')).stderr).toContain('Installing')
})

it('shows why an installation failed, however silent npm is, and runs nothing', async () => {
  write('package.json', { ...manifest, dependencies: { nothing: '1.0.0' } })
  const { stdout, stderr, code } = await run('node', '-p', '1')
  write('package.json', manifest)
  expect({ stdout, code }).toEqual({ stdout: '', code: 1 })
  expect(stderr).toContain('pnpm-lock.yaml is not up')
  expect(stderr).toContain('Cannot set up the workspace: the installation ended with exit code 1')
})

it("puts the workspace's programs first on PATH", async () => {
  const { stdout } = await run('node', '-p', 'process.env.PATH.split(path.delimiter)[0]')
  expect(stdout.trim()).toMatch(/node_modules\/\.bin$/)
})

it('ends with the exit code or the signal of the command', async () => {
  expect(await run('sh', '-c', 'exit 7')).toMatchObject({ code: 7, signal: null })
  expect(await run('sh', '-c', 'kill -TERM $$')).toMatchObject({ code: null, signal: 'SIGTERM' })
  expect(await run('no-such-program')).toMatchObject({
    code: 127,
    stderr: expect.stringContaining('no-such-program'),
  })
})

it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
  'hands %s to the command and waits for it',
  async (signal) => {
    const program = `process.once('${signal}', () => { console.log('got it'); process.exit(5) }); console.log('ready'); setInterval(() => {}, 1000)`
    const { child, result } = start('node', '-e', program)
    await once(child.stdout, 'data')
    child.kill(signal)
    expect(await result).toMatchObject({ code: 5, stdout: 'ready\ngot it\n' })
  },
)
