import { constants } from 'node:buffer'
import { describe, expect, it } from 'vitest'
import { NUMBER_LIMITS } from '../../src/config/limits.ts'
import { entryLabel, McpClientConfigError, resolveConfig } from '../../src/config/resolve.ts'

const stdio = { serverName: 'files', transport: 'stdio', command: 'run' }
const http = { serverName: 'web', transport: 'streamable-http', url: 'https://example.test/mcp' }

/** The problems of a configuration that has to be refused. */
function problems(written: unknown): readonly string[] {
  try {
    resolveConfig(written)
  } catch (error) {
    if (error instanceof McpClientConfigError) return error.problems
    throw error
  }
  throw new Error('the configuration was accepted')
}

describe('defaults', () => {
  it('are filled in for a local program', () => {
    expect(resolveConfig(stdio)).toEqual({
      serverName: 'files',
      endpoint: { transport: 'stdio', command: 'run', args: [], env: {}, cwd: undefined },
      toolCallTimeoutMs: 60_000,
      maxInstructionBytes: 32_768,
      maxMessageBytes: 67_108_864,
      livenessIntervalMs: 30_000,
      failOnStartupError: false,
      reconnect: { enabled: true, initialDelayMs: 500, maxDelayMs: 30_000, maxAttempts: 10 },
      omitted: [],
    })
  })

  it('are filled in for a remote server', () => {
    expect(resolveConfig(http).endpoint).toEqual({
      transport: 'streamable-http',
      url: new URL('https://example.test/mcp'),
      headers: {},
    })
  })

  it('stand for null, which YAML writes for a field without a value', () => {
    const optional = {
      args: null,
      env: null,
      cwd: null,
      toolCallTimeoutMs: null,
      maxInstructionBytes: null,
      maxMessageBytes: null,
      livenessIntervalMs: null,
      failOnStartupError: null,
    }
    expect(resolveConfig({ ...stdio, ...optional, reconnect: null })).toEqual(resolveConfig(stdio))
    const reconnect = { enabled: null, initialDelayMs: null, maxDelayMs: null, maxAttempts: null }
    expect(resolveConfig({ ...stdio, reconnect })).toEqual(resolveConfig(stdio))
    expect(resolveConfig({ ...http, headers: null })).toEqual(resolveConfig(http))
  })

  it('give way to what is written', () => {
    const written = {
      ...stdio,
      args: ['-y', ''],
      env: { A: '' },
      cwd: '..',
      toolCallTimeoutMs: 1,
      maxInstructionBytes: 0,
      maxMessageBytes: 1024,
      livenessIntervalMs: 1000,
      failOnStartupError: true,
      reconnect: { enabled: false, initialDelayMs: 0, maxDelayMs: 0, maxAttempts: 1 },
    }
    const { endpoint, ...common } = resolveConfig(written)
    expect(endpoint).toEqual({
      transport: 'stdio',
      command: 'run',
      args: ['-y', ''],
      env: { A: '' },
      cwd: '..',
    })
    expect(common).toEqual({
      serverName: 'files',
      toolCallTimeoutMs: 1,
      maxInstructionBytes: 0,
      maxMessageBytes: 1024,
      livenessIntervalMs: 1000,
      failOnStartupError: true,
      reconnect: { enabled: false, initialDelayMs: 0, maxDelayMs: 0, maxAttempts: 1 },
      omitted: [],
    })
  })

  it('keep the first delay within a longest delay that is shorter than it', () => {
    expect(resolveConfig({ ...stdio, reconnect: { maxDelayMs: 100 } }).reconnect).toMatchObject({
      initialDelayMs: 100,
      maxDelayMs: 100,
    })
  })

  it('has no liveness check when the interval is 0', () => {
    expect(resolveConfig({ ...http, livenessIntervalMs: 0 }).livenessIntervalMs).toBeUndefined()
  })
})

describe('a refusal', () => {
  it('names the entry and lists every problem with its path and what is accepted', () => {
    const written = {
      serverName: 'files',
      transport: 'stdio',
      command: ' ',
      toolCallTimeoutMs: 0,
      reconnect: { maxAttempts: 'many' },
    }
    expect(() => resolveConfig(written)).toThrow(
      new McpClientConfigError('mcp-client(files)', [
        'command: got " "; expected the name or path of a program',
        'toolCallTimeoutMs: got 0; expected a number of ms from 1 to 2147483647',
        'reconnect.maxAttempts: got "many"; expected a whole number of attempts from 1 to 1000000',
      ]),
    )
    expect(() => resolveConfig(written)).toThrow(
      'mcp-client(files): invalid configuration\n' +
        '  - command: got " "; expected the name or path of a program\n' +
        '  - toolCallTimeoutMs: got 0; expected a number of ms from 1 to 2147483647\n' +
        '  - reconnect.maxAttempts: got "many"; expected a whole number of attempts from 1 to 1000000',
    )
  })

  it('is a typed error', () => {
    expect(() => resolveConfig({})).toThrow(McpClientConfigError)
    expect(() => resolveConfig({})).toThrow(expect.objectContaining({ name: 'McpClientConfigError' }))
  })

  it('names an entry whose name is bad by that name, made safe to print', () => {
    expect(() => resolveConfig({ ...stdio, serverName: 'a b' })).toThrow(/^mcp-client\(a b\): /u)
    expect(() => resolveConfig({ ...stdio, serverName: '\u{1b}[31m' })).toThrow(
      /^mcp-client\(\\u\{1b\}\[31m\): /u,
    )
    const { serverName: _, ...nameless } = stdio
    expect(() => resolveConfig(nameless)).toThrow(/^mcp-client \(an entry without serverName\): /u)
    expect(() => resolveConfig({ ...stdio, serverName: 5 })).toThrow(
      /^mcp-client \(an entry whose serverName is no text\): /u,
    )
  })

  it.each([
    ['nothing', undefined, 'undefined'],
    ['null', null, 'null'],
    ['a list', [], 'a list'],
    ['a text', 'files', 'a string'],
    ['a function', () => {}, 'a function'],
  ])('meets %s in place of a configuration', (_, written, found) => {
    expect(() => resolveConfig(written)).toThrow(
      `mcp-client: invalid configuration\n  - got ${found}; expected a mapping with serverName and transport`,
    )
  })
})

describe('serverName', () => {
  it.each(['a', 'A-9_z', '__proto__', 'x'.repeat(32)])('accepts %j', (serverName) => {
    expect(resolveConfig({ ...stdio, serverName }).serverName).toBe(serverName)
  })

  it.each([
    ['missing', undefined, 'missing'],
    ['null', null, 'got null'],
    ['empty', '', 'got an empty string'],
    ['a number', 7, 'got 7'],
    ['a boolean', true, 'got true'],
    ['a mapping', {}, 'got a mapping'],
    ['a space', 'a b', 'got "a b"'],
    ['a dot', 'a.b', 'got "a.b"'],
    ['a letter beyond ASCII', 'ä', 'got "ä"'],
    ['a line break after it', 'a\n', String.raw`got "a\\n"`],
    ['33 characters', 'x'.repeat(33), `got "${'x'.repeat(33)}"`],
  ])('refuses %s', (_, serverName, found) => {
    expect(problems({ ...stdio, serverName })).toEqual([
      `serverName: ${found}; expected 1 to 32 characters of A-Z a-z 0-9 _ -`,
    ])
  })
})

describe('transport', () => {
  it.each([
    [undefined, 'missing'],
    ['sse', 'got "sse"'],
    ['toString', 'got "toString"'],
    ['STDIO', 'got "STDIO"'],
    [1, 'got 1'],
  ])('refuses %j', (transport, found) => {
    expect(problems({ ...stdio, transport })).toEqual([
      `transport: ${found}; expected "stdio" or "streamable-http"`,
    ])
  })
})

describe('an entry without a transport', () => {
  it('is told of everything else all the same, by the fields that it has', () => {
    const { transport: _, ...local } = stdio
    expect(problems({ ...local, comand: 'x', command: '', args: 'x' })).toEqual([
      'transport: missing; expected "stdio" or "streamable-http"',
      expect.stringContaining('comand: unknown field'),
      expect.stringContaining('command: got an empty string'),
      expect.stringContaining('args: got a string'),
    ])
    const { transport: __, ...remote } = http
    expect(problems({ ...remote, transport: 'sse', url: 'x' })).toEqual([
      'transport: got "sse"; expected "stdio" or "streamable-http"',
      expect.stringContaining('url: not a URL'),
    ])
  })

  it('is told of no more where its fields are of both or of none', () => {
    const missing = ['transport: missing; expected "stdio" or "streamable-http"']
    expect(problems({ serverName: 'a', command: '', url: '' })).toEqual(missing)
    expect(problems({ serverName: 'a' })).toEqual(missing)
  })
})

describe('unknown fields', () => {
  it('are refused, with the ones that there are', () => {
    expect(problems({ ...stdio, comand: 'x' })).toEqual([
      'comand: unknown field; expected one of transport, serverName, toolCallTimeoutMs, maxInstructionBytes, maxMessageBytes, livenessIntervalMs, failOnStartupError, reconnect, command, args, env, cwd',
    ])
    expect(problems({ ...http, 'a\u{202e}b': 1 })).toEqual([
      expect.stringMatching(/^a\\u\{202e\}b: unknown field; .*, url, headers$/u),
    ])
    expect(problems({ ...stdio, reconnect: { delay: 1 } })).toEqual([
      'reconnect.delay: unknown field; expected one of enabled, initialDelayMs, maxDelayMs, maxAttempts',
    ])
    expect(problems({ ...stdio, reconnect: { delay: 1, max: 2 } })).toEqual([
      'reconnect.delay, reconnect.max: unknown fields; expected one of enabled, initialDelayMs, maxDelayMs, maxAttempts',
    ])
  })

  it('are those of the other transport, too', () => {
    expect(problems({ ...stdio, url: 'https://example.test' })).toEqual([
      expect.stringContaining('url: unknown field'),
    ])
    expect(problems({ ...http, command: 'run' })).toEqual([expect.stringContaining('command: unknown field')])
  })
})

describe('command, args and cwd', () => {
  it.each([
    [undefined, 'missing'],
    ['', 'got an empty string'],
    ['\t ', String.raw`got "\\t "`],
    ['a\0b', String.raw`got "a\\u{0}b"`],
    [['run'], 'got a list'],
  ])('refuses the command %j', (command, found) => {
    expect(problems({ ...stdio, command })).toEqual([
      `command: ${found}; expected the name or path of a program`,
    ])
  })

  it('refuses arguments that are not a list of strings, without repeating one', () => {
    expect(problems({ ...stdio, args: '-y' })).toEqual(['args: got a string; expected a list of strings'])
    expect(problems({ ...stdio, args: ['--token', 12_345, 'a\0b', null] })).toEqual([
      'args[1]: got a number; expected a string without NUL (in YAML, put it in quotes)',
      'args[2]: got a string; expected a string without NUL (in YAML, put it in quotes)',
      'args[3]: got null; expected a string without NUL (in YAML, put it in quotes)',
    ])
  })

  it.each(['', 'a\0b', 3])('refuses the working directory %j', (cwd) => {
    expect(problems({ ...stdio, cwd })).toEqual([expect.stringMatching(/^cwd: got .*; expected a folder$/u)])
  })
})

describe('env', () => {
  it('leaves a name without a value out, and says which', () => {
    const { endpoint, omitted } = resolveConfig({ ...stdio, env: { A: 'x', B: null, C: undefined, D: '' } })
    expect(endpoint).toMatchObject({ env: { A: 'x', D: '' } })
    expect(omitted).toEqual(['env.B', 'env.C'])
  })

  it('may hold names that mean something to JavaScript', () => {
    const env = JSON.parse('{"__proto__":"a","constructor":"b"}') as Record<string, string>
    const { endpoint } = resolveConfig({ ...stdio, env })
    expect(endpoint.transport === 'stdio' && Object.entries(endpoint.env)).toEqual([
      ['__proto__', 'a'],
      ['constructor', 'b'],
    ])
  })

  it.each([
    ['a list', ['A=secret'], 'env: got a list; expected a mapping of names to strings'],
    ['a text', 'A=secret', 'env: got a string; expected a mapping of names to strings'],
    [
      'a number',
      { A: 1_234_567 },
      'env.A: got a number; expected a string (in YAML, put the value in quotes)',
    ],
    ['a boolean', { A: true }, 'env.A: got a boolean; expected a string (in YAML, put the value in quotes)'],
    [
      'a mapping',
      { A: { secret: 1 } },
      'env.A: got a mapping; expected a string (in YAML, put the value in quotes)',
    ],
    ['NUL in a value', { A: 'secret\0' }, 'env.A: its value holds NUL; expected text without it'],
    [
      'an empty name',
      { '': 'secret' },
      'env.: not a name that an environment can hold; expected characters without = and NUL',
    ],
    [
      'NUL in a name',
      { 'A\0': 'secret' },
      String.raw`env.A\u{0}: not a name that an environment can hold; expected characters without = and NUL`,
    ],
    [
      'a pair in place of a name',
      { 'A=secret': '' },
      'env.A…: not a name that an environment can hold; expected characters without = and NUL',
    ],
  ])('refuses %s and does not repeat it', (_, env, problem) => {
    expect(problems({ ...stdio, env })).toEqual([problem])
    expect(problem).not.toContain('secret')
  })
})

describe('url', () => {
  it.each(['http://localhost:3000/mcp', 'https://example.test', 'HTTPS://EXAMPLE.test/?key=abc#part'])(
    'accepts %s',
    (url) => {
      expect(resolveConfig({ ...http, url }).endpoint).toMatchObject({ url: new URL(url) })
    },
  )

  it.each([
    [undefined, 'url: missing; expected an absolute http: or https: URL'],
    ['', 'url: got an empty string; expected an absolute http: or https: URL'],
    [80, 'url: got 80; expected an absolute http: or https: URL'],
    ['/mcp?key=secret', 'url: not a URL; expected an absolute http: or https: URL'],
    ['localhost:3000/secret', 'url: its scheme is "localhost:"; expected an absolute http: or https: URL'],
    ['file:///secret', 'url: its scheme is "file:"; expected an absolute http: or https: URL'],
    [
      'https://user:secret@example.test',
      'url: it holds a user name or password; expected the credentials in headers.Authorization instead',
    ],
    [
      'https://:secret@example.test',
      'url: it holds a user name or password; expected the credentials in headers.Authorization instead',
    ],
  ])('refuses %j and does not repeat it', (url, problem) => {
    expect(problems({ ...http, url })).toEqual([problem])
    expect(problem).not.toContain('secret')
  })
})

const NO_HEADER_NAME =
  "not a name that a header can have; expected letters, digits and ! # $ % & ' * + - . ^ _ ` | ~"
const NO_HEADER_VALUE =
  'its value holds characters that a header cannot carry; expected Latin-1 on one line, without control characters'

describe('headers', () => {
  it('accepts what a request can carry, and leaves out a name without a value', () => {
    const headers = { Authorization: 'Bearer x', 'X-Latin': 'é\t~', 'X-Empty': '', 'X-Absent': null }
    const { endpoint, omitted } = resolveConfig({ ...http, headers })
    expect(endpoint).toMatchObject({
      headers: { Authorization: 'Bearer x', 'X-Latin': 'é\t~', 'X-Empty': '' },
    })
    expect(omitted).toEqual(['headers.X-Absent'])
  })

  it.each([
    ['a list', ['Authorization: secret'], 'headers: got a list; expected a mapping of names to strings'],
    ['a number', { A: 1 }, 'headers.A: got a number; expected a string (in YAML, put the value in quotes)'],
    ['a bad name', { 'A B': 'secret' }, `headers.A…: ${NO_HEADER_NAME}`],
    ['a whole header as a name', { 'A: secret': '' }, `headers.A…: ${NO_HEADER_NAME}`],
    ['an empty name', { '': 'secret' }, `headers.: ${NO_HEADER_NAME}`],
    ['a line break', { A: 'secret\r\nX-More: 1' }, `headers.A: ${NO_HEADER_VALUE}`],
    ['a letter beyond Latin-1', { A: 'secret→' }, `headers.A: ${NO_HEADER_VALUE}`],
    ...['\0x', '\u0001x', '\u007fx', '\nx', '\u2028'].map(
      (character): [string, Record<string, string>, string] => [
        `the character ${JSON.stringify(character)}`,
        { A: `secret${character}` },
        `headers.A: ${NO_HEADER_VALUE}`,
      ],
    ),
    [
      'a header of the connection',
      { HOST: 'secret' },
      'headers.HOST: this header is set by the connection itself; leave it out',
    ],
    [
      'a header of the protocol',
      { 'Mcp-Session-Id': 'secret' },
      'headers.Mcp-Session-Id: this header is set by the connection itself; leave it out',
    ],
    [
      'the same header twice',
      { 'X-A': 'one', 'x-a': 'secret' },
      'headers.x-a: the header is given twice; names do not depend on case',
    ],
  ])('refuses %s and does not repeat its value', (_, headers, problem) => {
    expect(problems({ ...http, headers })).toEqual([problem])
    expect(problem).not.toContain('secret')
  })

  it('does not print what was written in place of a name, also when its value is missing', () => {
    expect(resolveConfig({ ...stdio, env: { 'A=secret': null } }).omitted).toEqual(['env.A…'])
    expect(resolveConfig({ ...http, headers: { 'Authorization: secret': null } }).omitted).toEqual([
      'headers.Authorization…',
    ])
  })
})

describe('numbers', () => {
  it.each([
    ['toolCallTimeoutMs', 'number of ms from 1 to 2147483647'],
    ['maxInstructionBytes', 'whole number of bytes from 0 to 16777216'],
    ['maxMessageBytes', 'whole number of bytes from 1024 to 524288000'],
    ['livenessIntervalMs', 'number of ms from 1000 to 2147483647, or 0 to switch it off'],
  ])('%s is within its bounds', (field, accepted) => {
    const wrong: [unknown, string][] = [
      [Number.NaN, 'NaN'],
      [Number.POSITIVE_INFINITY, 'Infinity'],
      [-1, '-1'],
      [2 ** 31, '2147483648'],
      ['60', '"60"'],
      [true, 'true'],
      [{}, 'a mapping'],
      [10n, 'a bigint'],
    ]
    for (const [value, shown] of wrong) {
      expect(problems({ ...stdio, [field]: value })).toEqual([
        `${field}: got ${shown}; expected a ${accepted}`,
      ])
    }
  })

  it('are whole where they count, and need not be where they measure', () => {
    expect(problems({ ...stdio, maxInstructionBytes: 1.5 })).toHaveLength(1)
    expect(problems({ ...stdio, reconnect: { maxAttempts: 1.5 } })).toHaveLength(1)
    expect(resolveConfig({ ...stdio, toolCallTimeoutMs: 1.5 }).toolCallTimeoutMs).toBe(1.5)
  })

  it.each([
    ['initialDelayMs', 'number of ms from 0 to 2147483647'],
    ['maxDelayMs', 'number of ms from 0 to 2147483647'],
    ['maxAttempts', 'whole number of attempts from 1 to 1000000'],
  ])('reconnect.%s is within its bounds', (field, accepted) => {
    for (const value of [-1, 2 ** 31, Number.NaN]) {
      expect(problems({ ...stdio, reconnect: { [field]: value } })).toEqual([
        `reconnect.${field}: got ${value}; expected a ${accepted}`,
      ])
    }
  })
})

it('the largest message is one that can be held in a string', () => {
  expect(NUMBER_LIMITS.maxMessageBytes.max).toBeLessThan(constants.MAX_STRING_LENGTH)
})

describe('booleans', () => {
  it.each([0, 'true', [], {}])('refuse %j', (value) => {
    expect(problems({ ...stdio, failOnStartupError: value })).toEqual([
      expect.stringMatching(/^failOnStartupError: got .*; expected true or false$/u),
    ])
    expect(problems({ ...stdio, reconnect: { enabled: value } })).toEqual([
      expect.stringMatching(/^reconnect\.enabled: got .*; expected true or false$/u),
    ])
  })
})

describe('reconnect', () => {
  it.each([
    [true, 'a boolean'],
    [[], 'a list'],
    ['on', 'a string'],
  ])('refuses %j', (reconnect, found) => {
    expect(problems({ ...stdio, reconnect })).toEqual([`reconnect: got ${found}; expected a mapping`])
  })

  it('refuses a first delay over the longest one, the written or the default one', () => {
    expect(problems({ ...stdio, reconnect: { initialDelayMs: 2, maxDelayMs: 1 } })).toEqual([
      'reconnect.initialDelayMs: got 2; expected at most reconnect.maxDelayMs, which is 1',
    ])
    expect(problems({ ...stdio, reconnect: { initialDelayMs: 30_001 } })).toEqual([
      'reconnect.initialDelayMs: got 30001; expected at most reconnect.maxDelayMs, which is 30000',
    ])
    expect(
      resolveConfig({ ...stdio, reconnect: { initialDelayMs: 1, maxDelayMs: 1 } }).reconnect.maxDelayMs,
    ).toBe(1)
  })

  it('reports a bad delay once, and does not compare what is not a delay', () => {
    expect(problems({ ...stdio, reconnect: { initialDelayMs: 'soon', maxDelayMs: 1 } })).toEqual([
      'reconnect.initialDelayMs: got "soon"; expected a number of ms from 0 to 2147483647',
    ])
    expect(problems({ ...stdio, reconnect: { initialDelayMs: 40_000, maxDelayMs: 'late' } })).toEqual([
      'reconnect.maxDelayMs: got "late"; expected a number of ms from 0 to 2147483647',
    ])
  })
})

describe('the label of an entry', () => {
  it('holds its server name', () => {
    expect(entryLabel('files')).toBe('mcp-client(files)')
  })
})
