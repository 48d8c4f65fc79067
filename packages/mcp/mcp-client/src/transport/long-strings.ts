/**
 * Takes the long strings of large JSON messages out of a stream of bytes, piece by piece as they arrive, and puts
 * them back when the rest is parsed.
 *
 * A message is parsed in one go, and a tool may return tens of megabytes, in one string or in thousands: reading them
 * would hold up the event loop for hundreds of ms, and hold them several times in memory (decision 0012).
 *
 * Invariants: a message that is not large passes byte for byte; what is put back is exactly what parsing the
 * message as it came would have given; an invalid string makes its message invalid.
 */
import { randomUUID } from 'node:crypto'
import { StringDecoder } from 'node:string_decoder'
import { setImmediate } from 'node:timers/promises'
import { firstLineEnd, lastLineEnd } from './line-ends.ts'

/** What is large and what is long, in bytes. */
export interface LiftLimits {
  /** A line of fewer bytes is not looked at. */
  readonly largeMessage: number
  /** A string of fewer bytes stays in its message. */
  readonly longString: number
}

/**
 * Parsing a message of that size takes some ms. In a large one it takes a fraction to parse the mark of a string
 * instead of that many bytes, also when there are tens of thousands; taking one out costs some µs.
 */
export const DEFAULT_LIMITS: LiftLimits = { largeMessage: 1 << 20, longString: 1 << 9 }

/** Bytes of a response that are looked at before the event loop gets its turn; a socket hands over 2 MB at once. */
const BYTES_PER_TURN = 1 << 18

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** Stands in a message for a string that is not valid JSON, and is not valid JSON either. */
const INVALID = '\u0000'

/** What one stream has in {@link LongStrings}. */
export interface Account {
  /** UTF-16 units. */
  length: number
  /** When the stream ended, in ms of `performance.now()`. */
  endedAt?: number
}

/** How long the strings of a stream that ended may still be asked for, in ms. */
const LINGER_MS = 10_000

/** Strings that were taken out of the messages of one connection and not yet put back. */
export class LongStrings {
  readonly #mark = `long-string:${randomUUID()}:`
  readonly #kept = new Map<string, { text: string; account: Account }>()
  readonly #maxLength: number
  #count = 0

  /**
   * @param maxLength - how many UTF-16 units are kept of one stream. Only strings of messages that turned out to
   *   be invalid stay; the oldest are dropped then.
   */
  constructor(maxLength: number) {
    this.#maxLength = maxLength
  }

  /** How many strings are kept. */
  get size(): number {
    return this.#kept.size
  }

  /** Keep a string. Returns what stands for it: ASCII that no server can know. */
  keep(text: string, account: Account): string {
    // Not for each string: a message may have tens of thousands.
    if (account.length === 0) this.#dropLeft()
    if (account.length + text.length > this.#maxLength) this.#makeRoom(account, text.length)
    const mark = `${this.#mark}${this.#count++}`
    this.#kept.set(mark, { text, account })
    account.length += text.length
    return mark
  }

  /**
   * Put back, in place, every string that was taken out of a parsed message.
   *
   * @throws {Error} when one of them was dropped.
   */
  restore(message: object): void {
    if (this.#kept.size === 0) return
    const pending = [message]
    for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
      let hasLongKey = false
      for (const [key, item] of Object.entries(node) as [string, unknown][]) {
        hasLongKey ||= key.startsWith(this.#mark)
        if (typeof item === 'object' && item !== null) pending.push(item)
        else if (typeof item === 'string' && item.startsWith(this.#mark)) {
          // The field exists, so that this sets no prototype, whatever it is called.
          ;(node as Record<string, unknown>)[key] = this.#take(item)
        }
      }
      if (hasLongKey) this.#restoreKeys(node)
    }
  }

  /** Drop what is left of streams that ended some time ago. */
  #dropLeft(): void {
    const now = performance.now()
    for (const [mark, { account }] of this.#kept) {
      if (account.endedAt !== undefined && now - account.endedAt > LINGER_MS) this.#take(mark)
    }
  }

  /** Drop the oldest strings of a stream, until there is room for one more. */
  #makeRoom(account: Account, length: number): void {
    for (const [mark, kept] of this.#kept) {
      if (account.length + length <= this.#maxLength) return
      if (kept.account === account) this.#take(mark)
    }
  }

  #restoreKeys(node: object): void {
    for (const [key, item] of Object.entries(node)) {
      Reflect.deleteProperty(node, key)
      // Sets a field like JSON does, whatever it is called.
      const field = { value: item, writable: true, enumerable: true, configurable: true }
      Object.defineProperty(node, key.startsWith(this.#mark) ? this.#take(key) : key, field)
    }
  }

  #take(mark: string): string {
    const kept = this.#kept.get(mark)
    if (kept === undefined) throw new Error('a long string of the message was dropped')
    this.#kept.delete(mark)
    kept.account.length -= kept.text.length
    return kept.text
  }
}

/**
 * Takes long strings out of one stream of lines, each of which holds a message or a part of one. JSON holds no line
 * break inside of a string, so that whatever a line is, the next one starts afresh.
 */
export class StringLifter {
  readonly #strings: LongStrings
  readonly #limits: LiftLimits
  readonly #endsAtCr: boolean
  readonly #account: Account = { length: 0 }
  /** The line as far as it came, until it is a large one. */
  #line: Buffer[] = []
  #lineBytes = 0
  #string: LongString | undefined
  #output: Buffer[] = []

  /**
   * @param strings - keeps what is taken out.
   * @param endsAtCr - whether a line ends at a carriage return, too, and must not wait for a line feed.
   */
  constructor(strings: LongStrings, limits: LiftLimits = DEFAULT_LIMITS, endsAtCr = false) {
    this.#strings = strings
    this.#limits = limits
    this.#endsAtCr = endsAtCr
  }

  /** Size in bytes of the line that is not complete, as far as it came. */
  get lineBytes(): number {
    return this.#lineBytes
  }

  /** Take what arrived. Returns what is passed on, which may be nothing yet. */
  push(chunk: Buffer): Buffer {
    let start = 0
    while (start < chunk.length) {
      const room = Math.max(0, this.#limits.largeMessage - this.#lineBytes)
      const last = lastLineEnd(chunk.subarray(start, start + room), this.#endsAtCr)
      if (last !== -1) {
        // None of these lines is large, so that they need not be told apart.
        this.#endLine()
        this.#output.push(chunk.subarray(start, start + last + 1))
        start += last + 1
        continue
      }
      const end = firstLineEnd(chunk, start, this.#endsAtCr)
      if (end === -1) break
      this.#add(chunk.subarray(start, end))
      this.#endLine()
      this.#output.push(chunk.subarray(end, end + 1))
      start = end + 1
    }
    this.#add(chunk.subarray(start))
    return this.#flush()
  }

  /** The stream ended. Returns what is left of it. */
  end(): Buffer {
    this.#account.endedAt = performance.now()
    this.#endLine()
    return this.#flush()
  }

  #flush(): Buffer {
    const output = this.#output
    this.#output = []
    return output.length === 1 ? output[0]! : Buffer.concat(output)
  }

  #add(part: Buffer): void {
    this.#lineBytes += part.length
    if (this.#lineBytes < this.#limits.largeMessage) {
      this.#line.push(part)
      return
    }
    for (const held of this.#line) this.#scan(held)
    this.#line = []
    this.#scan(part)
  }

  #endLine(): void {
    // There can be more parts than a call takes arguments.
    for (const part of this.#line) this.#output.push(part)
    for (const part of this.#string?.unfinished() ?? []) this.#output.push(part)
    this.#line = []
    this.#lineBytes = 0
    this.#string = undefined
  }

  /** Pass on a part of a large message. Most of its strings are short, and stay where they are: nothing is copied. */
  #scan(part: Buffer): void {
    let passed = 0
    let start = 0
    while (start < part.length) {
      if (this.#string === undefined) {
        const quote = part.indexOf(QUOTE, start)
        if (quote === -1) break
        const end = findQuote(part, quote + 1)
        start = end + 1
        const isWhole = end < part.length
        if (isWhole && end - quote <= this.#limits.longString) continue
        this.#output.push(part.subarray(passed, quote + 1))
        if (isWhole) {
          this.#output.push(this.#lift(parsed(part.toString('utf8', quote, end + 1))))
          passed = end
          continue
        }
        this.#string = new LongString(this.#limits.longString)
        passed = quote + 1
      }
      const end = this.#string.add(part.subarray(passed))
      if (end === -1) return
      for (const piece of this.#string.finish((text) => this.#lift(text))) this.#output.push(piece)
      this.#string = undefined
      passed += end
      start = passed + 1
    }
    this.#output.push(part.subarray(passed))
  }

  /** What stands for a long string in its message; `undefined` is an invalid one. */
  #lift(text: string | undefined): Buffer {
    return Buffer.from(text === undefined ? INVALID : this.#strings.keep(text, this.#account))
  }
}

/** The same response without its long strings; whoever parses its messages puts them back. */
export function liftStrings(response: Response, strings: LongStrings): Response {
  const { status, statusText, headers, body } = response
  return body === null ? response : new Response(lifted(body, strings), { status, statusText, headers })
}

function lifted(body: ReadableStream<Uint8Array>, strings: LongStrings): ReadableStream<Uint8Array> {
  const lifter = new StringLifter(strings, DEFAULT_LIMITS, true)
  return ReadableStream.from(pieces())

  async function* pieces(): AsyncGenerator<Uint8Array, void> {
    try {
      let bytes = 0
      for await (const chunk of body) {
        yield lifter.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length))
        bytes += chunk.length
        if (bytes < BYTES_PER_TURN) continue
        bytes = 0
        await setImmediate()
      }
      yield lifter.end()
    } finally {
      // The reader may have gone away.
      lifter.end()
    }
  }
}

/** One string of a message, without its quotes, as it arrives. */
class LongString {
  readonly #minBytes: number
  /** The bytes, as long as they are few. */
  #bytes: Buffer[] = []
  #length = 0
  #isEscaped = false
  #decoder: StringDecoder | undefined
  /** The beginning of an escape whose end did not arrive yet. */
  #rest = ''
  /** As far as it came; `undefined` when it is invalid. */
  #text: string | undefined = ''

  /** @param minBytes - from which size on it is a long one. */
  constructor(minBytes: number) {
    this.#minBytes = minBytes
  }

  /** Add what belongs to the string. Returns where its closing quote is, or -1 when it is not in there. */
  add(part: Buffer): number {
    const end = this.#findEnd(part)
    const own = end === -1 ? part : part.subarray(0, end)
    this.#length += own.length
    if (this.#length < this.#minBytes) {
      this.#bytes.push(own)
      return end
    }
    this.#decoder ??= new StringDecoder('utf8')
    for (const held of this.#bytes) this.#decode(this.#decoder.write(held))
    this.#bytes = []
    this.#decode(this.#decoder.write(own))
    return end
  }

  /**
   * What stands for the string in its message.
   *
   * @param lift - takes the string if it is a long one.
   */
  finish(lift: (text: string | undefined) => Buffer): Buffer[] {
    if (this.#decoder === undefined) return this.#bytes
    this.#decode(this.#decoder.end(), true)
    return [lift(this.#text)]
  }

  /** What is passed on of a string that its line cut off; such a message is invalid anyway. */
  unfinished(): Buffer[] {
    return this.#bytes
  }

  #findEnd(part: Buffer): number {
    const index = findQuote(part, this.#isEscaped ? 1 : 0)
    this.#isEscaped = index > part.length
    return index < part.length ? index : -1
  }

  #decode(written: string, isLast = false): void {
    if (this.#text === undefined) return
    const text = this.#rest + written
    const whole = isLast ? text.length : wholeEscapes(text)
    this.#rest = text.slice(whole)
    const piece = parsed(`"${text.slice(0, whole)}"`)
    this.#text = piece === undefined ? undefined : this.#text + piece
  }
}

/** The text of a string with its quotes, or `undefined` when it is invalid. */
function parsed(json: string): string | undefined {
  try {
    return JSON.parse(json) as string
  } catch {
    return undefined
  }
}

/**
 * Where the quote is that closes a string; not less than the length when it is not in there, and one more than that
 * when the part ends in the middle of an escape.
 */
function findQuote(part: Buffer, start: number): number {
  let index = start
  while (index < part.length && part[index] !== QUOTE) index += part[index] === BACKSLASH ? 2 : 1
  return index
}

/** How much of a text ends with a whole escape, or with none. */
function wholeEscapes(text: string): number {
  const last = text.lastIndexOf('\\')
  // `\uXXXX` is the longest.
  if (last < text.length - 5 || last === -1) return text.length
  let first = last
  while (first > 0 && text[first - 1] === '\\') first--
  const isEscape = (last - first) % 2 === 0
  const length = text[last + 1] === 'u' ? 6 : 2
  return isEscape && last + length > text.length ? last : text.length
}
