/**
 * Why a connection could not be made or was lost, in words for the operator.
 *
 * Invariant: the texts are clean (no secret, no control character) and bounded, so they can be logged, put into
 * the status, and shown to the model as they are.
 */
import { visibleLine } from '@deepseek-ai/dsh-mcp-text'
import type { Redactor } from './redactor.ts'

/** Longest reason, and longest excerpt of a server's output in it, in characters. */
const MAX_REASON_LENGTH = 600
const MAX_EXCERPT_LENGTH = 300

/** A line that begins with the name of an error: what an uncaught one prints, as against the source line above it. */
const ERROR_LINE = /^\s*(un\w+ )?[\w.$]*(error|exception|panic|fatal)\b[^:]*:/i

/** Words of a line that says what went wrong, as against the stack around it. */
const TELLING =
  /error|exception|cannot|can't|not found|no such|missing|denied|refused|required|invalid|failed|fatal|panic|usage|expected/i

/** What a failure carries besides its reason. */
export interface FailureDetails {
  /** The last lines that the server wrote to its standard error, oldest first. */
  readonly output?: readonly string[]
  /** The wait that the server asked for before the next attempt, in ms. */
  readonly retryAfterMs?: number | undefined
  /** The server no longer knows the session; a new one can be started at once. */
  readonly isSessionLost?: boolean
  /** The server's process ended by itself. */
  readonly hasExited?: boolean
  /** No part of the request reached a server. */
  readonly isUnsent?: boolean
  readonly cause?: unknown
}

/** A connection that could not be made, or was lost. Its message is one line for the operator. */
export class ConnectionFailure extends Error {
  override readonly name = 'ConnectionFailure'
  readonly output: readonly string[]
  readonly retryAfterMs: number | undefined
  readonly isSessionLost: boolean
  readonly hasExited: boolean
  readonly isUnsent: boolean

  constructor(reason: string, details: FailureDetails = {}) {
    const output = details.output ?? []
    const excerpt = tellingExcerpt(output)
    super(excerpt === '' ? reason : `${reason}; it wrote: ${excerpt}`, { cause: details.cause })
    this.output = output
    this.retryAfterMs = details.retryAfterMs
    this.isSessionLost = details.isSessionLost ?? false
    this.hasExited = details.hasExited ?? false
    this.isUnsent = details.isUnsent ?? false
  }
}

/** The line that says why where one is an error's own, else the one that most likely does, and the last one. */
function tellingExcerpt(output: readonly string[]): string {
  const last = output.at(-1)
  if (last === undefined) return ''
  const error = output.findLast((line) => ERROR_LINE.test(line))
  if (error !== undefined) return visibleLine(error.trim(), MAX_EXCERPT_LENGTH)
  const telling = output.find((line) => TELLING.test(line)) ?? last
  return visibleLine(telling === last ? telling : `${telling} … ${last}`, MAX_EXCERPT_LENGTH)
}

/** How many of the things that are wrong with a message are told. */
const MAX_ISSUES = 3

/**
 * What an error says. The SDK prints what is wrong with a server's message as a page of JSON (Zod's issues), which
 * becomes a sentence.
 *
 * @param error - anything that was thrown. The text is as clean as the error's own.
 */
export function messageOf(error: unknown): string {
  const message = error instanceof Error && error.message !== '' ? error.message : String(error)
  const start = message.indexOf('[\n')
  if (start === -1) return message
  try {
    const issues = JSON.parse(message.slice(start)) as { path: unknown[]; message: string }[]
    const told = issues
      .slice(0, MAX_ISSUES)
      .map((issue) => [issue.path.join('.'), issue.message].filter(Boolean).join(': '))
    if (told.length === 0) return message
    if (issues.length > MAX_ISSUES) told.push(`and ${issues.length - MAX_ISSUES} more`)
    return `${message.slice(0, start)}${told.join('; ')}`
  } catch {
    return message
  }
}

/**
 * The reason that an error of the SDK, of Node, or of this package gives, on one line.
 *
 * @param error - anything that was thrown.
 */
export function reasonOf(error: unknown, redactor: Redactor): string {
  return redactor.line(messageOf(error), MAX_REASON_LENGTH)
}
