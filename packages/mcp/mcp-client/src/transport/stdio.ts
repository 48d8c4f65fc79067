/**
 * A server that is a local process, spoken to in lines of JSON over its standard input and output.
 *
 * Owns the process tree and its pipes. It takes the place of the SDK's stdio transport because that one learns
 * of an exit only when the pipes close, ends only the child itself, and starts a second process to negotiate
 * (decision 0003); framing and message types are the SDK's. It is stdio-shaped, with `stderr` and `pid`, so that
 * the SDK negotiates in place.
 *
 * Invariants: the connection is over when the process has exited, whatever its helpers do with the pipes, and when
 * it cannot be spoken with any more; what is not protocol on standard output never ends it; a message over the limit
 * always does.
 */
import type { ChildProcess } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { delimiter, resolve as resolvePath } from 'node:path'
import type { Readable } from 'node:stream'
import { scrubbedParentEnv } from '@deepseek-ai/dsh-subprocess'
import { visibleLine } from '@deepseek-ai/dsh-mcp-text'
import {
  isJSONRPCResultResponse,
  parseJSONRPCMessage,
  SdkError,
  SdkErrorCode,
  serializeMessage,
  type JSONRPCMessage,
} from '@modelcontextprotocol/client'
import spawn from 'cross-spawn'
import { ConnectionFailure, reasonOf } from '../diagnostics/failure.ts'
import type { Redactor } from '../diagnostics/redactor.ts'
import { badAnswer, isBadAnswer } from './bad-answer.ts'
import { bytesWithin, LineSplitter } from './line-splitter.ts'
import { LongStrings, StringLifter } from './long-strings.ts'
import { PacedOutput } from './paced-output.ts'
import { PendingReplies } from './pending-replies.ts'
import { ProcessTree } from './process-tree.ts'
import { StderrLog } from './stderr-log.ts'
import type { ServerTransport, TransportVerdict } from './types.ts'

/** How long the output of a process that has exited is still read, in ms, when a helper holds the pipe open. */
const DRAIN_MS = 100

/** For how many turns of the event loop what came until then is worked through, should its lines never end. */
const DRAIN_TURNS = 1000

/** How long a process may go on without its input or output, in ms; mostly its exit follows at once, and says more. */
const MUTE_MS = 1000

/** What to run, and who hears of what it writes. */
export interface StdioOptions {
  readonly command: string
  readonly args: readonly string[]
  /** On top of the host's scrubbed environment. */
  readonly env: Readonly<Record<string, string>>
  /** Absolute, or `undefined` for the host's own. */
  readonly cwd: string | undefined
  readonly maxMessageBytes: number
  readonly redactor: Redactor
  /** Receives each line of standard error, clean. */
  readonly onStderr: (line: string) => void
  /** Told once, with a clean sample, when standard output carries something that is not protocol; after that, `onerror` is. */
  readonly onNoise: (sample: string) => void
}

/** The stdio transport of one process. */
export class StdioTransport implements ServerTransport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void

  readonly #options: StdioOptions
  readonly #tree = new ProcessTree()
  readonly #stderrLog: StderrLog
  readonly #strings: LongStrings
  readonly #output: PacedOutput
  readonly #replies: PendingReplies
  #child: ChildProcess | undefined
  readonly #end = Promise.withResolvers<void>()
  #isOver = false
  #ending: Promise<void> | undefined
  /** Why the connection ended by itself. */
  #reason: string | undefined
  /** How the process failed while it was being closed; a server that cannot read its input ends like this. */
  #lateExit: string | undefined
  #hasExited = false
  #heardNoise = false
  #muteTimer: NodeJS.Timeout | undefined

  constructor(options: StdioOptions) {
    this.#options = options
    this.#strings = new LongStrings(2 * options.maxMessageBytes)
    this.#stderrLog = new StderrLog(options.redactor, options.onStderr)
    this.#output = new PacedOutput(this.#reader())
    this.#replies = new PendingReplies(this.#output, () =>
      this.#over('the server does not read the answers to its own requests'),
    )
  }

  /** The process id, or `null` before the start. */
  get pid(): number | null {
    return this.#child?.pid ?? null
  }

  /** The standard error stream, or `null` before the start. */
  get stderr(): Readable | null {
    return this.#child?.stderr ?? null
  }

  /**
   * Spawn the process.
   *
   * @throws {ConnectionFailure} when it cannot be spawned: which command, where it was looked for, what to do.
   */
  async start(): Promise<void> {
    if (this.#isOver) throw new SdkError(SdkErrorCode.NotConnected, 'Not connected')
    const child = this.#spawn()
    this.#child = child
    this.#tree.adopt(child)
    this.#readOutput(child)
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve)
      child.on('error', (error) => reject(this.#spawnFailure(error)))
    })
  }

  /**
   * Write one message.
   *
   * @throws {SdkError} when the connection is over, or the pipe breaks before the message is written; then the
   *   connection is over as well, and can say why.
   */
  async send(message: JSONRPCMessage): Promise<void> {
    const input = this.#child?.stdin
    if (this.#isOver || !input) throw new SdkError(SdkErrorCode.NotConnected, 'Not connected')
    const line = serializeMessage(message)
    const replyLength = 'method' in message ? 0 : line.length
    if (replyLength > 0) this.#replies.add(replyLength)
    const error = await new Promise<Error | null | undefined>((resolve) => {
      input.write(line, resolve)
    })
    if (replyLength > 0) this.#replies.remove(replyLength)
    if (!error) return
    this.#mute('input')
    await this.#end.promise
    throw new SdkError(SdkErrorCode.SendFailed, `the server does not read its input: ${error.message}`)
  }

  /** End the connection at once, and then the whole process tree. */
  close(): Promise<void> {
    this.#ending ??= this.#tree.end().then(() => {
      this.#child?.stdin?.destroy()
      this.#child?.stdout?.destroy()
      this.#child?.stderr?.destroy()
    })
    this.#over(undefined)
    return this.#ending
  }

  explain(error: unknown, phase: string): ConnectionFailure {
    if (error instanceof ConnectionFailure) return error
    const reason =
      this.#reason ??
      (error === undefined ? 'the connection closed' : reasonOf(error, this.#options.redactor))
    const exit = this.#reason === undefined && this.#lateExit !== undefined ? ` (${this.#lateExit})` : ''
    return new ConnectionFailure([reason, phase].filter(Boolean).join(' ') + exit, {
      output: this.#stderrLog.tail,
      hasExited: this.#hasExited,
      cause: error,
    })
  }

  /** A process that is there is alive: what fails on its pipes ends the connection by itself. */
  judge(error: unknown): TransportVerdict {
    if (!isBadAnswer(error)) return { kind: 'alive' }
    return { kind: 'alive', error: new Error(error.message, { cause: error }) }
  }

  #spawn(): ChildProcess {
    const { command, args, env, cwd } = this.#options
    try {
      return spawn(command, [...args], {
        ...this.#tree.spawnOptions,
        env: { ...scrubbedParentEnv(), ...env, ...this.#tree.marker },
        ...(cwd !== undefined && { cwd }),
        stdio: ['pipe', 'pipe', 'pipe'],
      })
    } catch (error) {
      // Some failures come as an event, and some at once.
      throw this.#spawnFailure(error as NodeJS.ErrnoException)
    }
  }

  /** What takes standard output in parts, and finds its messages. */
  #reader(): (part: Buffer) => void {
    const { maxMessageBytes } = this.#options
    const overflow = () =>
      this.#over(`the server sent a message of more than ${maxMessageBytes} bytes (maxMessageBytes)`)
    const lines = new LineSplitter(maxMessageBytes, (line) => this.#receive(line), overflow)
    const lifter = new StringLifter(this.#strings)
    return (part) => {
      const within = bytesWithin(part, lifter.lineBytes, maxMessageBytes)
      const isWhole = within === part.length
      lines.push(lifter.push(isWhole ? part : part.subarray(0, within)))
      if (!isWhole) overflow()
    }
  }

  #readOutput(child: ChildProcess): void {
    const report = (error: Error) => this.onerror?.(error)
    child.stdin?.on('error', (error) => {
      report(error)
      this.#mute('input')
    })
    child.stdout?.on('error', report).on('end', () => this.#mute('output'))
    this.#output.listen(child.stdout)
    child.stderr?.on('error', report).on('data', (chunk: Buffer) => this.#stderrLog.push(chunk))
    child.once('exit', (code, signal) => {
      clearTimeout(this.#muteTimer)
      const reason =
        signal === null
          ? `the server process exited with code ${code}`
          : `the server process was ended by ${signal}`
      if (this.#ending === undefined) this.#hasExited = true
      else if (signal === null && code !== 0) this.#lateExit = reason
      const finish = () => {
        clearTimeout(timer)
        this.#stderrLog.end()
        this.#over(reason)
      }
      let turns = 0
      let idleTurns = 0
      // On a busy event loop the timer is due before what has come meanwhile is read.
      const settle = () => {
        idleTurns = this.#output.isBusy ? 0 : idleTurns + 1
        if (idleTurns > 1 || this.#isOver || ++turns > DRAIN_TURNS) finish()
        else setImmediate(settle)
      }
      const timer = setTimeout(settle, DRAIN_MS)
      child.once('close', settle)
      this.#replies.end()
    })
  }

  #receive(line: Buffer): void {
    const text = line.toString('utf8')
    if (text.trim() === '' || this.#isOver) return
    const message = this.#read(text)
    if (message === undefined) return this.#skip(text)
    try {
      this.onmessage?.(message)
    } catch (error) {
      // A message that is nested deep enough takes whoever prints it to the end of the stack.
      this.onerror?.(error as Error)
    }
  }

  /** The message that a line is, or `undefined` when it is none. */
  #read(text: string): JSONRPCMessage | undefined {
    let written: unknown
    try {
      written = JSON.parse(text)
      const message = parseMessage(written)
      this.#strings.restore(message)
      return message
    } catch (error) {
      return badAnswer(text, written, error)
    }
  }

  /** What is not protocol is shown once to the operator, and for the server's author each time. */
  #skip(text: string): void {
    if (this.#heardNoise) {
      this.onerror?.(new Error(`standard output carries what is not protocol: ${text}`))
      return
    }
    this.#heardNoise = true
    this.#options.onNoise(this.#options.redactor.line(text, 120))
  }

  /** One direction is closed at the other end: if the process does not exit now, it is there for nothing. */
  #mute(what: 'input' | 'output'): void {
    if (this.#isOver || this.#hasExited) return
    this.#muteTimer ??= setTimeout(() => {
      this.#over(`the server closed its standard ${what} and did not exit`)
    }, MUTE_MS).unref()
  }

  /** The connection is over, by itself for the given reason, or because it was closed. */
  #over(reason: string | undefined): void {
    clearTimeout(this.#muteTimer)
    if (this.#isOver) return
    this.#isOver = true
    this.#reason = reason
    this.#output.stop()
    this.#replies.end()
    this.#end.resolve()
    this.onclose?.()
  }

  #spawnFailure(error: NodeJS.ErrnoException): ConnectionFailure {
    const { command, cwd } = this.#options
    const shown = JSON.stringify(visibleLine(command, 100))
    if (cwd !== undefined && !isFolder(cwd)) {
      return new ConnectionFailure(
        `the working directory ${JSON.stringify(visibleLine(cwd))} (cwd) is not a folder`,
        { cause: error },
      )
    }
    if (error.code === 'ENOENT' && /[\\/]/.test(command) && existsSync(resolvePath(cwd ?? '.', command))) {
      return new ConnectionFailure(
        `the command ${shown} names an interpreter in its first line that was not found; install it, or name one in "command"`,
        { cause: error },
      )
    }
    if (error.code === 'ENOENT') {
      const path = this.#options.env['PATH'] ?? process.env['PATH'] ?? ''
      const where = /[\\/]/.test(command)
        ? 'there is no such file'
        : `searched PATH: ${visibleLine([...new Set(path.split(delimiter))].join(' '), 400)}`
      const step = /\s/.test(command)
        ? 'put what follows the program into "args"'
        : 'install it, or give its full path in "command"'
      return new ConnectionFailure(`the command ${shown} was not found (${where}); ${step}`, { cause: error })
    }
    if (error.code === 'EACCES') {
      return new ConnectionFailure(
        `the command ${shown} may not be executed; make it executable, or name its interpreter in "command"`,
        { cause: error },
      )
    }
    return new ConnectionFailure(
      `the command ${shown} could not be started: ${reasonOf(error, this.#options.redactor)}`,
      { cause: error },
    )
  }
}

/** Most messages are results, for which the check of all kinds would try every other one first. */
function parseMessage(message: unknown): JSONRPCMessage {
  return isJSONRPCResultResponse(message) ? message : parseJSONRPCMessage(message)
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}
