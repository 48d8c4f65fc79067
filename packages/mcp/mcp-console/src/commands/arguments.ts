/** The arguments of a call as they are written on the command line: JSON, `@file`, or `-` for standard input. */
import { readFile } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { visibleLine } from '@deepseek-ai/dsh-mcp-text'
import { CommandError } from '../exit.ts'
import { fileReason } from '../file-error.ts'

/**
 * Read the arguments.
 *
 * @param written - as on the command line; none means no arguments.
 * @throws {CommandError} when they cannot be read or are no JSON object.
 */
export async function readArguments(
  written: string | undefined,
  stdin: Readable,
): Promise<Record<string, unknown>> {
  if (written === undefined) return {}
  const source =
    written === '-' ? 'standard input' : written.startsWith('@') ? visibleLine(written.slice(1)) : 'ARGS'
  const json = await readSource(written, source, stdin)
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch (error) {
    throw refusal(`${source} is not JSON: ${visibleLine((error as Error).message)}`)
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>
  throw refusal(
    `${source} is ${Array.isArray(value) ? 'a list' : JSON.stringify(value).slice(0, 40)}, not an object`,
  )
}

async function readSource(written: string, source: string, stdin: Readable): Promise<string> {
  if (written === '-') return await text(stdin)
  if (!written.startsWith('@')) return written
  if (written === '@') throw refusal('@ is followed by the name of a file')
  try {
    return await readFile(written.slice(1), 'utf8')
  } catch (error) {
    throw refusal(`cannot read ${source}: ${fileReason(error)}`)
  }
}

function refusal(reason: string): CommandError {
  return new CommandError(
    'unusable',
    `${reason}; arguments are one JSON object, for example '{"message":"hi"}', or @FILE, or - for standard input`,
  )
}
