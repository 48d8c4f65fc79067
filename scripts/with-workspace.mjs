/**
 * Runs a command inside the installed workspace, from any machine that has Node 20 and npm:
 *
 *     node scripts/with-workspace.mjs COMMAND [ARGUMENT…]
 *
 * It owns the answer to "is what the lockfile asks for installed?" and installs with the pinned pnpm when it
 * is not. The command then finds `node_modules/.bin`, and so the workspace's own Node, first on its PATH.
 *
 * Invariants: stdout belongs to the command alone, every word of the installation goes to stderr; nothing is
 * imported but Node itself; the syntax is what Node 20 runs. Two of these at once install once.
 */

import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const binFolder = join(root, 'node_modules', '.bin')
const stampFile = join(root, 'node_modules', '.workspace-stamp')
const lockFile = join(root, '.install-lock')
const lockPatienceMs = 10 * 60_000
const forwardedSignals = ['SIGINT', 'SIGTERM', 'SIGHUP']

/** Text of a file of the workspace, '' when it is not there. */
function read(path) {
  try {
    return readFileSync(join(root, path), 'utf8')
  } catch {
    return ''
  }
}

/** Digest of everything that decides what an installation puts where. */
function wantedStamp() {
  const lockfile = read('pnpm-lock.yaml')
  const importers = lockfile.match(/^importers:\n(?<body>(?:\n|[ ].*\n)*)/m)?.groups.body ?? ''
  const manifests = [...importers.matchAll(/^ {2}(\S+):$/gm)].map(([, folder]) =>
    join(folder, 'package.json'),
  )
  const hash = createHash('sha256').update(`${process.platform} ${process.arch}\n${lockfile}`)
  for (const path of ['pnpm-workspace.yaml', '.npmrc', ...manifests]) hash.update(`\n${path}\n${read(path)}`)
  return hash.digest('hex')
}

function isInstalled() {
  return existsSync(join(binFolder, 'node')) && read('node_modules/.workspace-stamp') === wantedStamp()
}

/** Run one program to its end, with the signals that this process gets. */
async function run(command, args, options) {
  // Ctrl-C on a terminal reaches the whole process group, so the program has it already.
  const onTerminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY
  const forward = (signal) => (signal === 'SIGINT' && onTerminal) || child.kill(signal)
  // Before the program is there: a signal that it provokes at once must not be lost.
  for (const signal of forwardedSignals) process.on(signal, forward)
  const child = spawn(command, args, { cwd: root, ...options })
  try {
    return await new Promise((resolve, reject) => {
      child.once('error', reject)
      child.once('exit', (code, signal) => resolve({ code, signal }))
    })
  } finally {
    for (const signal of forwardedSignals) process.off(signal, forward)
  }
}

async function install() {
  const { packageManager } = JSON.parse(read('package.json'))
  process.stderr.write(`Installing the workspace with ${packageManager} …\n`)
  const stamp = wantedStamp()
  const { code, signal } = await run('npx', ['--yes', packageManager, 'install', '--frozen-lockfile'], {
    stdio: ['ignore', process.stderr, process.stderr],
    // `npm start --silent` must not silence the reason why an installation failed.
    env: { ...process.env, npm_config_loglevel: 'warn' },
  })
  if (code !== 0)
    throw new Error(`the installation ended with ${signal ?? `exit code ${code}`}; its reason stands above`)
  writeFileSync(`${stampFile}.new`, stamp)
  renameSync(`${stampFile}.new`, stampFile)
}

/** Create a file that must not exist yet; false when it does. */
function claim(file, content) {
  try {
    writeFileSync(file, content, { flag: 'wx' })
    return true
  } catch (error) {
    if (error.code === 'EEXIST') return false
    throw error
  }
}

function isGone(pid) {
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return error.code === 'ESRCH'
  }
}

/** Remove the lock of a process that died with it. Claimed by one at a time, so that no successor loses its lock. */
function breakLockOf(holder) {
  const guard = `${lockFile}.${holder}`
  if (!claim(guard, '')) return
  if (read('.install-lock') === holder) rmSync(lockFile)
  rmSync(guard)
}

async function ensureInstalled() {
  if (isInstalled()) return
  const deadline = Date.now() + lockPatienceMs
  while (!claim(lockFile, String(process.pid))) {
    const holder = read('.install-lock')
    if (holder !== '' && isGone(Number(holder))) breakLockOf(holder)
    if (Date.now() > deadline) {
      throw new Error(`another installation did not finish; if none runs, remove ${lockFile}*`)
    }
    await sleep(50)
  }
  try {
    if (!isInstalled()) await install()
  } finally {
    rmSync(lockFile, { force: true })
  }
}

/**
 * Install what is missing, run one command and end this process the way the command ended.
 *
 * @param {string} command a program of the workspace (`node` is the workspace's own) or of the PATH
 * @param {string[]} args its arguments
 */
export async function withWorkspace(command, args) {
  try {
    await ensureInstalled()
  } catch (error) {
    process.stderr.write(`Cannot set up the workspace: ${error.message}\n`)
    process.exit(1)
  }
  try {
    const { code, signal } = await run(command, args, {
      stdio: 'inherit',
      env: { ...process.env, PATH: `${binFolder}${delimiter}${process.env.PATH ?? ''}` },
    })
    if (signal !== null) process.kill(process.pid, signal)
    process.exitCode = code ?? 128 + constants.signals[signal]
  } catch (error) {
    process.stderr.write(`Cannot run ${command}: ${error.message}\n`)
    process.exitCode = 127
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [command, ...args] = process.argv.slice(2)
  if (command === undefined) {
    process.stderr.write('usage: node scripts/with-workspace.mjs COMMAND [ARGUMENT…]\n')
    process.exit(2)
  }
  await withWorkspace(command, args)
}
