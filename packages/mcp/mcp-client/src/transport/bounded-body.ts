/**
 * Bounds what one message of an HTTP answer can take of memory.
 *
 * Invariants: a JSON body, or one event of an event stream, that passes the limit ends the answer with an error
 * instead of being collected; of an error page no more than its beginning is read.
 */

/** What is read of the body of an error status, in bytes; it is only looked at for words. */
const MAX_ERROR_BODY_BYTES = 65_536

const LF = 0x0a
const CR = 0x0d

/** Counts the bytes of an event stream since its last blank line, wherever the chunks are cut. */
class EventBytes {
  #count = 0
  #isLineEmpty = true
  #isAfterCr = false

  /** @returns the largest size that an event has reached within the chunk. */
  add(chunk: Uint8Array): number {
    // A buffer searches many times faster than a plain array of bytes.
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
    let largest = 0
    let lf = find(bytes, LF, 0)
    let cr = find(bytes, CR, 0)
    for (let from = 0; from < chunk.length;) {
      const end = Math.min(lf, cr)
      if (end > from) this.#addToLine(end - from)
      if (end === chunk.length) break
      largest = Math.max(largest, this.#endLine(chunk[end]!))
      from = end + 1
      if (end === lf) lf = find(bytes, LF, from)
      else cr = find(bytes, CR, from)
    }
    return Math.max(largest, this.#count)
  }

  #addToLine(count: number): void {
    this.#count += count
    this.#isLineEmpty = false
    this.#isAfterCr = false
  }

  /** @returns the size of the event when this ends one. */
  #endLine(byte: number): number {
    const isSecondHalf = byte === LF && this.#isAfterCr
    this.#isAfterCr = byte === CR
    if (isSecondHalf) return 0
    const size = this.#isLineEmpty ? this.#count : 0
    if (this.#isLineEmpty) this.#count = 0
    this.#isLineEmpty = true
    return size
  }
}

/** Where a byte is next; the end of the bytes when it is not among them any more. */
function find(bytes: Buffer, byte: number, from: number): number {
  const index = bytes.indexOf(byte, from)
  return index === -1 ? bytes.length : index
}

/** Counts the bytes of a body that is one message. */
class BodyBytes {
  #count = 0

  add(chunk: Uint8Array): number {
    this.#count += chunk.length
    return this.#count
  }
}

function overflowing(
  bytes: EventBytes | BodyBytes,
  maxBytes: number,
  events: BodyEvents,
): TransformStream<Uint8Array, Uint8Array> {
  return new TransformStream({
    transform(chunk, controller) {
      events.onData?.()
      if (bytes.add(chunk) > maxBytes) controller.error(events.onOverflow())
      else controller.enqueue(chunk)
    },
  })
}

function truncating(): TransformStream<Uint8Array, Uint8Array> {
  let room = MAX_ERROR_BODY_BYTES
  return new TransformStream({
    transform(chunk, controller) {
      controller.enqueue(chunk.subarray(0, room))
      room -= chunk.length
      if (room <= 0) controller.terminate()
    },
  })
}

/** What is told of a body that is being read. */
export interface BodyEvents {
  /** Some of it arrived. */
  onData?(): void
  /** The limit is passed; makes the error that the reader gets. Called once. */
  onOverflow(): Error
}

/** Whether the body is an event stream, by its declared type. */
export function isEventStream(response: Response): boolean {
  return (
    response.headers.get('content-type')?.trimStart().toLowerCase().startsWith('text/event-stream') === true
  )
}

/**
 * The same response with a bounded body.
 *
 * @param maxBytes - largest JSON body, or event of an event stream.
 */
export function boundedBody(response: Response, maxBytes: number, events: BodyEvents): Response {
  const { status, statusText, headers, body } = response
  if (body === null) return response
  const limit = response.ok
    ? overflowing(isEventStream(response) ? new EventBytes() : new BodyBytes(), maxBytes, events)
    : truncating()
  return new Response(body.pipeThrough(limit), { status, statusText, headers })
}
