/**
 * Bounds what one message of an HTTP answer can take of memory.
 *
 * Invariants: a JSON body, or one event of an event stream, that passes the limit ends the answer with an error
 * instead of being collected; of an error page no more than its beginning is read.
 */
import { CR, LF } from './line-ends.ts'

/** What is read of the body of an error status, in bytes; it is only looked at for words. */
const MAX_ERROR_BODY_BYTES = 65_536

/** Counts the bytes of an event stream since its last blank line, wherever the chunks are cut. */
class EventBytes {
  #count = 0
  #isLineEmpty = true
  #isAfterCr = false

  /** @returns the largest size that an event has reached within the chunk. */
  add(chunk: Uint8Array): number {
    let largest = 0
    // Fields, and an iterator, would cost several times as much for each byte.
    let count = this.#count
    let isLineEmpty = this.#isLineEmpty
    let isAfterCr = this.#isAfterCr
    for (let index = 0; index < chunk.length; index++) {
      const byte = chunk[index]!
      const isLineEnd = byte === LF || byte === CR
      const isSecondHalf = byte === LF && isAfterCr
      isAfterCr = byte === CR
      if (!isLineEnd) {
        isLineEmpty = false
        count++
      } else if (!isSecondHalf) {
        if (isLineEmpty) {
          largest = Math.max(largest, count)
          count = 0
        }
        isLineEmpty = true
      }
    }
    this.#count = count
    this.#isLineEmpty = isLineEmpty
    this.#isAfterCr = isAfterCr
    return Math.max(largest, count)
  }
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
