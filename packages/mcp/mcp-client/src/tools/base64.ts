/** Base64 (RFC 4648) of any size: how much it stands for, and its bytes, without holding up the event loop. */
import { setImmediate } from 'node:timers/promises'

/** Characters that are decoded before the event loop gets its turn; a multiple of 4. */
const CHARACTERS_PER_TURN = 1 << 20

/** How many bytes a base64 text stands for, from its length and padding alone. */
export function decodedBytes(base64: string): number {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0
  return Math.max(0, Math.floor((base64.length * 3) / 4) - padding)
}

/**
 * The bytes of a canonical base64 text.
 *
 * @returns `undefined` when the text is empty or not canonical: it is not exactly what encoding the bytes gives.
 */
export async function decodeCanonical(base64: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  if (base64 === '' || base64.length % 4 !== 0) return undefined
  const bytes = Buffer.from(new ArrayBuffer(decodedBytes(base64)))
  let length = 0
  for (let start = 0; start < base64.length; start += CHARACTERS_PER_TURN) {
    if (start > 0) await setImmediate()
    const piece = base64.slice(start, start + CHARACTERS_PER_TURN)
    const end = length + bytes.write(piece, length, 'base64')
    if (bytes.toString('base64', length, end) !== piece) return undefined
    length = end
  }
  // Padding before the end makes fewer bytes.
  return length === bytes.length ? bytes : undefined
}
