/** Runs the real program on compositions that a test writes, at a pipe or at a terminal. */
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { eventually } from '@dsh-mcp/host'

/** The program. */
const BIN = fileURLToPath(new URL('../src/bin.ts', import.meta.url))

/** One row of a composition. */
export interface Row {
  id: string
  name: string
  config?: object
  inject?: string[]
}

/** The rows of a host with everything that a client can use. */
export const HOST_ROWS: readonly Row[] = [
  { id: 'system-prompt', name: '@deepseek-ai/dsh-system-prompt' },
  { id: 'tools', name: '@deepseek-ai/dsh-tools' },
  { id: 'mcp-resources', name: '@deepseek-ai/dsh-mcp-resources' },
]

/** A client row for a local program. */
export function stdioRow(
  serverName: string,
  program: { command: string; args: string[] },
  more: object = {},
): Row {
  return clientRow(Object.assign({ serverName, transport: 'stdio' }, program, more))
}

/** A client row for an HTTP server. */
export function httpRow(serverName: string, url: string, more: object = {}): Row {
  return clientRow(Object.assign({ serverName, transport: 'streamable-http', url }, more))
}

function clientRow(config: { serverName: string; transport: string }): Row {
  return { id: `mcp-${config.serverName}`, name: '@deepseek-ai/dsh-mcp-client', config }
}

/** A folder with a composition in it, removed at the end. Nothing is installed beside it. */
export class Composition implements AsyncDisposable {
  readonly folder: string
  readonly path: string

  constructor(folder: string) {
    this.folder = folder
    this.path = join(folder, 'cordis.yml')
  }

  /** Write the composition: the host and these rows, or a text as it is. */
  async write(content: readonly Row[] | string): Promise<void> {
    // JSON is YAML.
    const text =
      typeof content === 'string' ? content : JSON.stringify([...HOST_ROWS, ...content], undefined, 2)
    await writeFile(this.path, text)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, force: true })
  }
}

/** Make a composition. */
export async function compose(content: readonly Row[] | string): Promise<Composition> {
  const composition = new Composition(await mkdtemp(join(tmpdir(), 'dsh-mcp-console-')))
  await composition.write(content)
  return composition
}

/** How to start the program. */
export interface StartOptions {
  /** Working directory. Default: the composition's folder, so that its cordis.yml is the default. */
  cwd: string
  env?: NodeJS.ProcessEnv
}

/** The program, running. */
export class Running implements AsyncDisposable {
  readonly process: ChildProcess
  /** Everything on standard output so far. */
  stdout = ''
  /** Everything on standard error so far. */
  stderr = ''
  /** The exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>

  constructor(child: ChildProcess) {
    this.process = child
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (this.stdout += text))
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (this.stderr += text))
    this.ended = new Promise((resolve) => child.once('close', (code, signal) => resolve(code ?? signal!)))
  }

  /** Wait until the output so far matches; on a terminal both streams are standard output. */
  async until(pattern: RegExp): Promise<RegExpExecArray> {
    return await eventually(() => {
      const match = pattern.exec(this.stdout) ?? pattern.exec(this.stderr)
      if (match === null) throw new Error(`no ${pattern} in:\n${this.stdout}\n--- stderr\n${this.stderr}`)
      return match
    }, 40_000)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.process.kill('SIGKILL')
    await this.ended
  }
}

function environment(more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const { NO_COLOR: _noColor, FORCE_COLOR: _forceColor, ...inherited } = process.env
  return { ...inherited, TERM: 'xterm', ...more }
}

/** Start the program with its streams at pipes. */
export function start(args: readonly string[], options: StartOptions): Running {
  const child = spawn(process.execPath, ['--expose-internals', BIN, ...args], {
    cwd: options.cwd,
    env: environment(options.env),
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  return new Running(child)
}

/** Start the program on a terminal of its own. Control-C is typed by writing `\x03`. */
export function startOnTerminal(args: readonly string[], options: StartOptions): Running {
  const words = [process.execPath, '--expose-internals', BIN, ...args]
  const quoted = words.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`)
  // A shell that stayed would die of Ctrl-C too, and `script` would return its end: dash stays, bash does not.
  const command = ['exec', ...quoted].join(' ')
  const child = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
    cwd: options.cwd,
    env: environment(options.env),
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  return new Running(child)
}

/** What a finished run left behind. */
export interface Finished {
  readonly code: number | NodeJS.Signals
  readonly stdout: string
  readonly stderr: string
}

/** Run the program to its end. */
export async function run(
  args: readonly string[],
  options: StartOptions & { input?: string },
): Promise<Finished> {
  await using running = start(args, options)
  running.process.stdin?.end(options.input ?? '')
  const code = await running.ended
  return { code, stdout: running.stdout, stderr: running.stderr }
}

/** {@link run} with `--json`: what was printed has to be exactly one JSON value. */
export async function runJson(
  args: readonly string[],
  options: StartOptions & { input?: string },
): Promise<Finished & { value: unknown }> {
  const finished = await run([...args, '--json'], options)
  return { ...finished, value: JSON.parse(finished.stdout) as unknown }
}
