import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { resolveConfig } from '../../src/config/resolve.ts'
import { Redactor } from '../../src/diagnostics/redactor.ts'
import { StderrLog } from '../../src/transport/stderr-log.ts'

const written = { serverName: 'one', transport: 'stdio', command: 'run', env: { A_TOKEN: 'hunter2' } }
const redactor = new Redactor(resolveConfig(written).endpoint)

function log() {
  const lines: string[] = []
  const stderr = new StderrLog(redactor, (line) => lines.push(line))
  return { stderr, lines, write: (text: string) => stderr.push(Buffer.from(text)) }
}

// The window of the rate limit is the only thing here that depends on time.
beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

describe('the standard error of a server', () => {
  it('goes to the log line by line', () => {
    const { stderr, lines, write } = log()
    write('one\ntw')
    write('o\n\n   \nthr')
    expect(lines).toEqual(['one', 'two'])
    write('ee')
    stderr.end()
    expect(lines).toEqual(['one', 'two', 'three'])
    stderr.end()
    expect(lines).toHaveLength(3)
  })

  it('has no secret and no control character in it', () => {
    const { stderr, lines, write } = log()
    write('\u{1b}[31mtoken hunter2 \u{202e}\u{0}\r\n')
    expect(lines).toEqual([String.raw`\u{1b}[31mtoken [redacted env.A_TOKEN] \u{202e}\u{0}`])
    expect(stderr.tail).toEqual(lines)
  })

  it('keeps the last 20 lines for failure messages', () => {
    const { stderr, write } = log()
    expect(stderr.tail).toEqual([])
    for (let line = 1; line <= 50; line++) write(`line ${line}\n`)
    expect(stderr.tail).toHaveLength(20)
    expect(stderr.tail.at(0)).toBe('line 31')
    expect(stderr.tail.at(-1)).toBe('line 50')
  })

  it('is cut to 500 characters a line, and a line of more than 64 KiB is left out', () => {
    const { stderr, lines, write } = log()
    write(`${'x'.repeat(60_000)}\n`)
    expect(lines[0]!.length).toBeLessThanOrEqual(500)
    write('y'.repeat(70_000))
    write('y\n')
    expect(lines[1]).toBe('[a line of more than 64 KiB was left out]')
    write('after\n')
    expect(stderr.tail.at(-1)).toBe('after')
  })

  it('writes at most 100 lines in 10 s to the log, and says how many it left out', () => {
    const { stderr, lines, write } = log()
    write('line\n'.repeat(150))
    expect(lines).toHaveLength(100)
    expect(stderr.tail).toHaveLength(20)
    vi.advanceTimersByTime(10_000)
    write('still\n')
    expect(lines).toHaveLength(100)
    vi.advanceTimersByTime(1)
    write('later\n')
    expect(lines.slice(100)).toEqual(['[51 lines of standard error were not logged]', 'later'])
    vi.advanceTimersByTime(10_001)
    write('calm\n')
    expect(lines.slice(102)).toEqual(['calm'])
  })
})
