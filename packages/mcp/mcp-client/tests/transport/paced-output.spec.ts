import { Readable } from 'node:stream'
import { expect, it } from 'vitest'
import { PacedOutput } from '../../src/transport/paced-output.ts'
import { turns } from '../support.ts'

/** Numbered lines in one chunk. */
const lines = (count: number, first = 0) =>
  Buffer.from(Array.from({ length: count }, (_, index) => `${first + index}\n`).join(''))

function paced() {
  const stream = new Readable({ read() {} })
  const parts: string[] = []
  const output = new PacedOutput((part) => parts.push(part.toString()))
  output.listen(stream)
  return { stream, output, parts, text: () => parts.join('') }
}

it('a chunk of few lines is handed on as it comes', async () => {
  const { stream, output, parts } = paced()
  stream.push('one\ntw')
  stream.push('o\n')
  await turns(1)
  expect(parts).toEqual(['one\ntw', 'o\n'])
  expect(output.isBusy).toBe(false)
})

it('a chunk of many lines is handed on in shares, one in a turn, in order and complete', async () => {
  const { stream, output, parts, text } = paced()
  const all = Buffer.concat([lines(1000), Buffer.from('begun')])
  stream.push(all)
  stream.push(' and ended\nlast\n')
  await turns(2)
  expect(output.isBusy).toBe(true)
  expect(parts.length).toBeLessThan(5)
  await turns(100)
  expect(output.isBusy).toBe(false)
  expect(text()).toBe(`${all.toString()} and ended\nlast\n`)
  for (const part of parts) expect(part.split('\n').length).toBeLessThanOrEqual(33)
})

it('what a stream emits although it is paused comes after what waits', async () => {
  const { stream, text } = paced()
  stream.push(lines(100))
  await turns(1)
  // As a child process does with its streams when it exits.
  stream.push(lines(3, 100))
  stream.resume()
  await turns(20)
  expect(text()).toBe(lines(103).toString())
})

it('while it is held nothing is handed on, and afterwards everything', async () => {
  const { stream, output, parts, text } = paced()
  output.release()
  stream.push(lines(100))
  await turns(1)
  output.hold()
  const before = parts.length
  stream.push(lines(100, 100))
  await turns(20)
  expect(parts).toHaveLength(before)
  output.release()
  await turns(20)
  expect(text()).toBe(lines(200).toString())
})

it('held by what it hands on, it stops after that share', async () => {
  const stream = new Readable({ read() {} })
  const parts: string[] = []
  const output = new PacedOutput((part) => {
    parts.push(part.toString())
    output.hold()
  })
  output.listen(stream)
  stream.push(lines(100))
  await turns(20)
  expect(parts).toHaveLength(1)
  output.release()
  await turns(20)
  expect(parts).toHaveLength(2)
})

it('once it is stopped, what waits and what comes is dropped, and the stream is read to its end', async () => {
  const { stream, output, parts } = paced()
  const ended = new Promise((resolve) => stream.once('end', resolve))
  stream.push(lines(100))
  await turns(1)
  const before = parts.length
  output.stop()
  output.hold()
  stream.push(lines(100))
  stream.push(null)
  await ended
  expect(parts).toHaveLength(before)
  expect(output.isBusy).toBe(false)
})

it('without a stream there is nothing to read', () => {
  const output = new PacedOutput(() => {})
  output.listen(null)
  output.stop()
  expect(output.isBusy).toBe(false)
})
