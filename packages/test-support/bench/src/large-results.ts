/** The large results that are measured: what they are called, how many bytes they carry, and what they hold. */

import type { JsonObject } from '@dsh-mcp/fixtures'

/** One large result. */
export interface LargeResult {
  readonly title: string
  /** Bytes of text or base64 in it. */
  readonly bytes: number
  /** Make the result of `tools/call`. */
  readonly make: () => JsonObject
}

const BYTES = 30_000_000

const text = (written: string): JsonObject => ({ type: 'text', text: written })

/** A text result of many blocks. */
function blocks(count: number, bytes: number): LargeResult {
  return {
    title: `${count.toLocaleString('en')} texts of ${bytes / 1000} kB`,
    bytes: count * bytes,
    make: () => ({ content: Array.from({ length: count }, () => text('x'.repeat(bytes))) }),
  }
}

/** Every one, by the name of the tool that returns it. */
export const LARGE_RESULTS: Readonly<Record<string, LargeResult>> = {
  text: {
    title: '30 MB of text, one word,',
    bytes: BYTES,
    make: () => ({ content: [text('x'.repeat(BYTES))] }),
  },
  lines: {
    title: '30 MB of text, lines with quotes,',
    bytes: BYTES,
    make: () => ({ content: [text('{"level": "info"}\n'.repeat(BYTES / 18).slice(0, BYTES))] }),
  },
  blob: {
    title: '30 MB of base64',
    bytes: BYTES,
    make: () => ({
      content: [{ type: 'resource', resource: { uri: 'fixture://big', blob: 'A'.repeat(BYTES) } }],
    }),
  },
  'blocks-60': blocks(500, 60_000),
  'blocks-10': blocks(3000, 10_000),
  'blocks-1': blocks(20_000, 1000),
}
