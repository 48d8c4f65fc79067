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
import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
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
  const child = spawn(command, args, { cwd: root, ...options })
  // Ctrl-C on a terminal reaches the whole process group, so the program has it already.
  const onTerminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY
  const forward = (signal) => (signal === 'SIGINT' && onTerminal) || child.kill(signal)
  for (const signal of forwardedSignals) process.on(signal, forward)
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

/** True when the process that holds the lock file is gone, so that nobody would ever remove it. */
function isStale() {
  const pid = Number(read('.install-lock'))
  // Without a number its holder has created it this instant, or died right there.
  if (!pid) return Date.now() - (statSync(lockFile, { throwIfNoEntry: false })?.mtimeMs ?? 0) > 10_000
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return error.code === 'ESRCH'
  }
}

async function ensureInstalled() {
  if (isInstalled()) return
  const deadline = Date.now() + lockPatienceMs
  for (;;) {
    try {
      writeFileSync(lockFile, String(process.pid), { flag: 'wx' })
      break
    } catch (error) {
      if (error.code !== 'EEXIST') throw error
    }
    if (isStale()) rmSync(lockFile, { force: true })
    else if (Date.now() > deadline)
      throw new Error(`another installation did not finish; if none runs, remove ${lockFile}`)
    else await sleep(100)
  }
  const unlock = () => rmSync(lockFile, { force: true })
  process.once('exit', unlock)
  try {
    if (!isInstalled()) await install()
  } finally {
    process.off('exit', unlock)
    unlock()
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
