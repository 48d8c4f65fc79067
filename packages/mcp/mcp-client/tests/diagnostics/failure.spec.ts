import { describe, expect, it } from 'vitest'
import { resolveConfig } from '../../src/config/resolve.ts'
import { ConnectionFailure, reasonOf } from '../../src/diagnostics/failure.ts'
import { Redactor } from '../../src/diagnostics/redactor.ts'

const written = { serverName: 'one', transport: 'stdio', command: 'run', env: { A_TOKEN: 'hunter2' } }
const redactor = new Redactor(resolveConfig(written).endpoint)

describe('a connection failure', () => {
  it('is its reason when the server wrote nothing', () => {
    const failure = new ConnectionFailure('it exited')
    expect(failure).toMatchObject({
      name: 'ConnectionFailure',
      message: 'it exited',
      output: [],
      retryAfterMs: undefined,
      isSessionLost: false,
      hasExited: false,
      cause: undefined,
    })
  })

  it('keeps what it was made with', () => {
    const details = {
      output: ['a'],
      retryAfterMs: 5,
      isSessionLost: true,
      hasExited: true,
      cause: new Error('deep'),
    }
    expect(new ConnectionFailure('it exited', details)).toMatchObject(details)
  })

  it('adds the last line that the server wrote', () => {
    expect(new ConnectionFailure('it exited', { output: ['starting', 'bye'] }).message).toBe(
      'it exited; it wrote: bye',
    )
  })

  it('adds the last error that the server printed, not the source line above it', () => {
    const output = [
      'Error: the cache is cold',
      'file:///server.js:7',
      "    throw new Error('no left-pad')",
      "  TypeError [ERR_X]: Cannot find module 'left-pad'",
      '    at require (node:internal)',
      'Node.js v24',
    ]
    expect(new ConnectionFailure('it exited', { output }).message).toBe(
      "it exited; it wrote: TypeError [ERR_X]: Cannot find module 'left-pad'",
    )
  })

  it('adds, without an error, the first line that tells what went wrong, and the last one', () => {
    const output = ['starting', 'the file is missing', 'really', 'bye']
    expect(new ConnectionFailure('it exited', { output }).message).toBe(
      'it exited; it wrote: the file is missing … bye',
    )
  })

  it('says the line once when the telling one is the last', () => {
    const output = ['starting', 'GITHUB_TOKEN is required']
    expect(new ConnectionFailure('it exited', { output }).message).toBe(
      'it exited; it wrote: GITHUB_TOKEN is required',
    )
  })

  it('shows a bounded excerpt', () => {
    const { message } = new ConnectionFailure('it exited', { output: ['e'.repeat(500), 'fatal'.repeat(100)] })
    expect(message.length).toBeLessThan(340)
    expect(message).toContain('characters)')
  })
})

describe('the reason of an error', () => {
  it.each([
    ['an error', new Error('no such thing'), 'no such thing'],
    ['an error without a message', new TypeError(), 'TypeError'],
    ['a text', 'thrown', 'thrown'],
    ['nothing', undefined, 'undefined'],
  ])('of %s is one line', (_, error, reason) => {
    expect(reasonOf(error, redactor)).toBe(reason)
  })

  it('has no secret, no line break and no control character in it', () => {
    expect(reasonOf(new Error('bad\n\u{1b}[2Jhunter2\u{202e}'), redactor)).toBe(
      String.raw`bad\n\u{1b}[2J[redacted env.A_TOKEN]\u{202e}`,
    )
  })

  it('is a sentence where the SDK prints a page of JSON', () => {
    const issue = (path: (string | number)[], message: string) => ({ code: 'invalid_type', path, message })
    const page = (...issues: object[]) => JSON.stringify(issues, undefined, 2)
    const issues = ['a', 'b', 'c', 'd'].map((name) => issue(['content', 0, name], 'expected string'))
    expect(reasonOf(new Error(`Invalid result for tools/call: ${page(...issues)}`), redactor)).toBe(
      'Invalid result for tools/call: content.0.a: expected string; content.0.b: expected string; content.0.c: expected string; and 1 more',
    )
    expect(reasonOf(new Error(page(issue([], 'expected object'))), redactor)).toBe('expected object')
  })

  it('is what the error says where that only looks like such a page', () => {
    expect(reasonOf(new Error('list: [\nnot JSON'), redactor)).toBe(String.raw`list: [\nnot JSON`)
    expect(reasonOf(new Error('list: [\n{}]'), redactor)).toBe(String.raw`list: [\n{}]`)
    expect(reasonOf(new Error('list: [\n]'), redactor)).toBe(String.raw`list: [\n]`)
  })

  it('is bounded', () => {
    expect(reasonOf(new Error('x'.repeat(10_000)), redactor).length).toBeLessThanOrEqual(600)
  })
})
