/**
 * Bounds what one message of an HTTP answer can take of memory.
 *
 * Invariant: a JSON body, or one event of an event stream, that passes the limit ends the answer with an error
 * instead of being collected.
 */

const LF = 0x0a
const CR = 0x0d

/** Bytes after the last blank line of a chunk, or `undefined` when there is none in it. */
function bytesAfterBlankLine(chunk: Uint8Array): number | undefined {
  for (let index = chunk.length - 1; index > 0; index--) {
    const byte = chunk[index]
    if (byte !== LF && byte !== CR) continue
    const before = chunk[index - 1]
    const isBlank = before === byte || (byte === LF && before === CR && chunk[index - 2] === LF)
    if (isBlank) return chunk.length - index - 1
  }
  return undefined
}

/**
 * The same response with a bounded body.
 *
 * @param maxBytes - largest JSON body, or event of an event stream.
 * @param onOverflow - called once when the limit is passed, and makes the error that the reader gets.
 */
export function boundedBody(response: Response, maxBytes: number, onOverflow: () => Error): Response {
  if (response.body === null) return response
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
  let bytes = 0
  const limit = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      const rest = isStream ? bytesAfterBlankLine(chunk) : undefined
      bytes = rest ?? bytes + chunk.length
      if (bytes > maxBytes) controller.error(onOverflow())
      else controller.enqueue(chunk)
    },
  })
  const { status, statusText, headers } = response
  return new Response(response.body.pipeThrough(limit), { status, statusText, headers })
}
