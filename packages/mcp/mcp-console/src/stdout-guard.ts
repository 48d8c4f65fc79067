/**
 * Keeps standard output for results: whatever else writes to it (`console.log`, the composition's console logger,
 * a plugin) is sent to standard error.
 */
import { stripVTControlCharacters } from 'node:util'
import { wantsColor, type Sink } from './output.ts'

/**
 * Take standard output away from everybody else.
 *
 * @returns the way past the guard.
 */
export function guardStdout(): Sink {
  const { stdout, stderr } = process
  const write = stdout.write.bind(stdout)
  // Who writes to standard output decided on colours by looking at it, not at where the text ends up.
  const isColored = wantsColor(stderr, process.env)
  stdout.write = (chunk: string | Uint8Array, ...rest: unknown[]) => {
    const text = typeof chunk === 'string' && !isColored ? stripVTControlCharacters(chunk) : chunk
    return (stderr.write as (...args: unknown[]) => boolean)(text, ...rest)
  }
  return { isTTY: stdout.isTTY, columns: stdout.columns, write: (text, done) => write(text, () => done()) }
}
