import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { resolveConfig } from '../../src/config/resolve.ts'
import { Redactor } from '../../src/diagnostics/redactor.ts'

const redactor = (more: object) => {
  const transport = 'url' in more ? 'streamable-http' : 'stdio'
  const base = { serverName: 'one', transport, ...(transport === 'stdio' && { command: 'run' }) }
  return new Redactor(resolveConfig({ ...base, ...more }).endpoint)
}
const unicodeEscapes = (text: string) =>
  Array.from(
    { length: text.length },
    (_, index) => `\\u${text.charCodeAt(index).toString(16).padStart(4, '0')}`,
  ).join('')
const withEnv = (env: Record<string, string>) => redactor({ env })
const withUrl = (url: string, headers: Record<string, string> = {}) => redactor({ url, headers })

describe('a redactor', () => {
  it('leaves text alone when there is nothing to hide, or nothing hidden in it', () => {
    expect(withEnv({}).redact('some text')).toBe('some text')
    expect(withEnv({ A_TOKEN: 'ghp_12345' }).redact('some text')).toBe('some text')
  })

  it('replaces every occurrence of an env value by the name of its field', () => {
    const text = 'denied: ghp_12345 (token ghp_12345)'
    expect(withEnv({ GITHUB_TOKEN: 'ghp_12345' }).redact(text)).toBe(
      'denied: [redacted env.GITHUB_TOKEN] (token [redacted env.GITHUB_TOKEN])',
    )
  })

  it('replaces header values, and the credential in one without its scheme', () => {
    const hides = withUrl('https://example.test', {
      Authorization: 'Bearer abcdef',
      'X-Trace': 'long-trace-id',
    })
    expect(hides.redact('got "Bearer abcdef"')).toBe('got "[redacted headers.Authorization]"')
    expect(hides.redact('bad token abcdef for long-trace-id')).toBe(
      'bad token [redacted headers.Authorization] for [redacted headers.X-Trace]',
    )
  })

  it('replaces the parameters of the URL, decoded and as they were written', () => {
    const hides = withUrl('https://example.test/mcp?api_key=a%2Bb+c%2Fd%21&x=1')
    expect(hides.redact('key a+b c/d! is wrong')).toBe('key [redacted url ?api_key] is wrong')
    expect(hides.redact('GET https://example.test/mcp?api_key=a%2Bb+c%2Fd%21&x=1')).toBe(
      'GET https://example.test/mcp?api_key=[redacted url ?api_key]&x=1',
    )
    expect(hides.redact('as a%2Bb%20c%2Fd!')).toBe('as [redacted url ?api_key]')
  })

  it('replaces a key in the path of the URL, and leaves its words', () => {
    const url = 'https://example.test/api/s/0a1b2c3d4e5f6a7b8c9d0e1f/model-context-protocol/mcp'
    const shown = 'https://example.test/api/s/[redacted url path]/model-context-protocol/mcp'
    expect(withUrl(url).redact(`no endpoint at ${url}`)).toBe(`no endpoint at ${shown}`)
  })

  it('replaces a parameter that has an equals sign in it', () => {
    const hides = withUrl('https://example.test/mcp?key=abcd==')
    expect(hides.redact('/mcp?key=abcd==')).toBe('/mcp?key=[redacted url ?key]')
  })

  it('replaces a query that is nothing but a key', () => {
    expect(withUrl('https://example.test/mcp?s3cr3t-k3y').redact('?s3cr3t-k3y')).toBe('?[redacted url ?]')
    expect(withUrl('https://example.test/mcp').redact('?')).toBe('?')
  })

  it('replaces a secret as it stands in a URL and in JSON', () => {
    const hides = withEnv({ PASSWORD: 'pä"ss\\wörd' })
    expect(hides.redact(`?p=${encodeURIComponent('pä"ss\\wörd')}`)).toBe('?p=[redacted env.PASSWORD]')
    expect(hides.redact(JSON.stringify({ p: 'pä"ss\\wörd' }))).toBe('{"p":"[redacted env.PASSWORD]"}')
  })

  it.each(['', 'u', 'us', 'user:', 'another user:'])(
    'replaces a secret in the Base64 of a text after "%s"',
    (before) => {
      const secret = 'pässwörd?>~ÿ'
      const hides = withEnv({ PASSWORD: secret })
      for (const encoding of ['base64', 'base64url'] as const) {
        const encoded = Buffer.from(`${before}${secret} and more`).toString(encoding)
        const shown = hides.redact(`Basic ${encoded}`)
        expect(shown).toMatch(/^Basic [\w+/-]*\[redacted env\.PASSWORD\][\w+/-]+=*$/)
        const left = shown.replace(/^Basic |\[redacted env\.PASSWORD\]/g, '')
        expect(left.length).toBeLessThanOrEqual(
          Buffer.from(`${before} and more`).toString(encoding).length + 4,
        )
      }
    },
  )

  it('leaves Base64 alone in which nothing of a secret can be told', () => {
    expect(withEnv({ TOKEN: 'abcd' }).redact('WJj')).toBe('WJj')
  })

  it('replaces the second word of any header, where it is long enough for a secret', () => {
    const hides = withUrl('https://example.test', {
      'X-Custom': 'Scheme abcdefgh',
      'X-Short': 'Scheme abcdefg',
    })
    expect(hides.redact('abcdefgh abcdefg')).toBe('[redacted headers.X-Custom] abcdefg')
  })

  it('replaces the password of Basic authentication where it stands in clear', () => {
    const hides = withUrl('https://example.test', { Authorization: `basic ${btoa('me:hunter22')}` })
    expect(hides.redact('user me, password hunter22')).toBe(
      'user me, password [redacted headers.Authorization]',
    )
    expect(hides.redact(btoa('me:hunter22'))).toBe('[redacted headers.Authorization]')
  })

  it('replaces the value of an option that is named like a secret', () => {
    const hides = redactor({
      args: ['--api-key', 'k-123', '-v', '--auth_token=t=456', '--mode', 'fast', '--secret'],
    })
    expect(hides.redact('argv: --api-key k-123 -v --auth_token=t=456 --mode fast --secret')).toBe(
      'argv: --api-key [redacted args api-key] -v --auth_token=[redacted args auth_token] --mode fast --secret',
    )
  })

  it('replaces each line of a secret of several lines, which a log shows one by one', () => {
    const hides = withEnv({ PEM: 'first-line\r\nx\nsecond-line' })
    expect(hides.redact('1: first-line')).toBe('1: [redacted env.PEM]')
    expect(hides.redact('2: second-line')).toBe('2: [redacted env.PEM]')
    expect(hides.redact('x marks the spot')).toBe('x marks the spot')
  })

  it('prefers the longer of two secrets that contain each other', () => {
    const hides = withEnv({ A_KEY: 'abcd', B_KEY: 'abcdefgh' })
    expect(hides.redact('abcdefgh abcd')).toBe('[redacted env.B_KEY] [redacted env.A_KEY]')
  })

  it('takes a secret literally, whatever it means in a pattern', () => {
    const hides = withEnv({ A_KEY: '.*[a-z]+$(\\d)|^{2}?' })
    expect(hides.redact('any text')).toBe('any text')
    expect(hides.redact('<.*[a-z]+$(\\d)|^{2}?>')).toBe('<[redacted env.A_KEY]>')
  })

  it.each<[string, (text: string) => string]>([
    ['Python', (text) => JSON.stringify(text).replace(/[^ -~]/gu, unicodeEscapes)],
    [
      'PHP',
      (text) =>
        JSON.stringify(text)
          .replace(/[^ -~]/gu, unicodeEscapes)
          .replaceAll('/', String.raw`\/`),
    ],
    [
      '.NET',
      (text) =>
        JSON.stringify(text).replace(/[^ -~]|[&+<>']/gu, (found) =>
          unicodeEscapes(found).toUpperCase().replaceAll('U', 'u'),
        ),
    ],
    ['JavaScript, in JSON once more', (text) => JSON.stringify(JSON.stringify(text))],
    ['a URL, with lower case', (text) => encodeURIComponent(text).toLowerCase()],
    ['a URL, as a form', (text) => encodeURIComponent(text).replaceAll('%20', '+')],
  ])('replaces a secret as %s spells it', (_, spell) => {
    const secret = 'p/w+d & <ä\'"\\é😀> 3'
    const hides = withEnv({ PASSWORD: secret })
    expect(hides.redact(`<<${spell(secret).toLowerCase()}>>`)).toMatch(
      /^<<[\\"]*\[redacted env\.PASSWORD\][\\"]*>>$/,
    )
  })

  it('replaces what is secret in a composed value: cookies, parameters, JSON, the password of an address', () => {
    const cookie = withUrl('https://example.test', { Cookie: 'sid=s3ss10nid; theme=dark' })
    expect(cookie.redact('no session s3ss10nid, theme dark')).toBe(
      'no session [redacted headers.Cookie], theme dark',
    )
    const scheme = withUrl('https://example.test', { Authorization: 'Token token="abcdefgh", other' })
    expect(scheme.redact('token abcdefgh')).toBe('token [redacted headers.Authorization]')
    const json = withEnv({ HEADERS: '{"X-Api": "k3y-0123456789-0123456789", "X-Name": "somebody"}' })
    expect(json.redact('somebody k3y-0123456789-0123456789')).toBe('somebody [redacted env.HEADERS]')
    const url = withEnv({ DATABASE: 'postgres://admin:p%40ss@db.test/x', BROKEN: 'http://u:%zzzz@db.test' })
    expect(url.redact('db.test: admin, p@ss or p%40ss is wrong, %zzzz too')).toBe(
      'db.test: admin, [redacted env.DATABASE] or [redacted env.DATABASE] is wrong, [redacted env.BROKEN] too',
    )
  })

  it('leaves paths and addresses alone, which have to be read, unless their name is that of a secret', () => {
    const hides = withEnv({
      NOTES: '/srv/notes-of-the-year-2026',
      HOME_OF: 'C:\\Users\\somebody',
      API: 'https://api.example.test/v1',
      KEY_FILE: '/run/secrets/one',
      HOOK: 'https://hooks.example.test/0a1b2c3d4e5f6a7b8c9d0e1f',
      CALL: 'https://api.example.test/v1?key=value',
    })
    expect(hides.redact('/srv/notes-of-the-year-2026 C:\\Users\\somebody https://api.example.test/v1')).toBe(
      '/srv/notes-of-the-year-2026 C:\\Users\\somebody https://api.example.test/v1',
    )
    expect(hides.redact('/run/secrets/one')).toBe('[redacted env.KEY_FILE]')
    expect(hides.redact('https://hooks.example.test/0a1b2c3d4e5f6a7b8c9d0e1f')).toBe(
      'https://hooks.example.test/[redacted env.HOOK]',
    )
    expect(hides.redact('https://api.example.test/v1?key=value')).toBe('[redacted env.CALL]')
  })

  it('replaces a secret without the spaces around it', () => {
    expect(withEnv({ TOKEN: ' abcdef\n' }).redact('token abcdef')).toBe('token [redacted env.TOKEN]')
  })

  it('replaces a header in an argument', () => {
    const hides = redactor({ args: ['--header', 'Authorization: Bearer abcdef', 'Accept: anything'] })
    expect(hides.redact('--header "Authorization: Bearer abcdef", Accept: anything, abcdef')).toBe(
      '--header "Authorization: [redacted args Authorization]", Accept: anything, [redacted args Authorization]',
    )
  })

  it.each([
    ['a variable', ['run', '-e', 'GITHUB_TOKEN=abcdef']],
    ['a variable in an option', ['--env=GITHUB_TOKEN=abcdef']],
    ['a header in an option', ['--header=Authorization: Bearer abcdef']],
    ['an option with dots', ['--db.password=abcdef']],
    ['an option of Windows', ['/token:abcdef']],
    ['JSON', ['{"server":{"token":"abcdef"},"port":1}']],
    ['the password of an address', ['postgres://me:abcdef@db.test/x']],
    ['a parameter of an address', ['--url=https://example.test/x?api_key=abcdef&page=1']],
  ])('replaces what is secret in an argument: %s', (_, args) => {
    const shown = redactor({ args }).redact(`${args.join(' ')}: abcdef`)
    expect(shown).toMatch(/: \[redacted args.*\]$/)
    expect(shown).not.toContain('abcdef')
  })

  it('leaves names alone, however long: of hosts, of resources, of versions', () => {
    const url = 'https://example.test/mcp/streamable-http-2025-06-18/Model-Context-v2'
    expect(withUrl(url).redact(url)).toBe(url)
    const hides = withEnv({
      SERVER: 'https://server1.internal.example.test/api',
      HOST_ID: 'sk-AbCdEf0123456789xyz',
    })
    expect(hides.redact('ENOTFOUND server1.internal.example.test')).toBe(
      'ENOTFOUND server1.internal.example.test',
    )
    expect(hides.redact('sk-AbCdEf0123456789xyz')).toBe('[redacted env.HOST_ID]')
  })

  it('replaces a secret however often it was escaped', () => {
    const secret = 'k"e/y\t\n\\100%41 +ä😀'
    const hides = withEnv({ TOKEN: secret })
    const spell = fc.constantFrom<(text: string) => string>(
      (text) => JSON.stringify(text).slice(1, -1),
      (text) =>
        JSON.stringify(text)
          .slice(1, -1)
          .replaceAll('/', String.raw`\/`),
      (text) => text.replaceAll(/[^ -~]|[&+<>'"]/g, unicodeEscapes),
      encodeURIComponent,
    )
    const steps = fc.array(spell, { maxLength: 3 })
    fc.assert(
      fc.property(steps, (spellings) => {
        const spelled = spellings.reduce((text, each) => each(text), secret)
        expect(hides.redact(`<${spelled}>`)).toBe('<[redacted env.TOKEN]>')
      }),
    )
  })

  it('replaces any secret wherever it stands', () => {
    const text = fc.string({ unit: 'binary', maxLength: 20 })
    const secret = fc
      .string({ unit: 'binary', minLength: 4, maxLength: 20 })
      .filter(
        (value) =>
          value.trim().length >= 4 &&
          !value.includes('\0') &&
          !/^(?:true|false|none|null|auto)$/i.test(value),
      )
    fc.assert(
      fc.property(text, secret, text, (before, value, after) => {
        expect(withEnv({ TOKEN: value }).redact(before + value + after)).toContain('[redacted env.TOKEN]')
      }),
    )
  })

  it('hides what overlaps with a secret, too', () => {
    const hides = withEnv({ A_KEY: 'abcdefgh', B_KEY: 'efghijkl' })
    expect(hides.redact('<abcdefghijkl>')).toBe('<[redacted env.A_KEY]>')
  })

  it('looks at no more of a long text than is shown, and leaves nothing out of that', () => {
    const secret = 's3cr3t-'.repeat(10)
    const hides = withEnv({ TOKEN: secret })
    const line = 'x '.repeat(50)
    const many = hides.line(`${secret} `.repeat(100_000), 100)
    expect(many.startsWith('[redacted env.TOKEN] '.repeat(3))).toBe(true)
    expect(many).toMatch(/… \(\+\d+ characters\)$/)
    expect(hides.line(`${line}${secret}`, 100)).toBe(hides.line(`${line}[redacted env.TOKEN]`, 100))
    expect(hides.excerpt(`a\n${secret}`)).toBe('a\n[redacted env.TOKEN]')
    for (let length = 1; length < 400; length += 7) {
      const words = `${'y'.repeat(length)}${secret}${'z'.repeat(1000)}`
      expect(hides.line(words, length + 40)).not.toContain('s3cr3t')
    }
  })

  it('takes values of any number and size: a file with thousands of lines, in JSON in JSON', () => {
    const lines = Array.from(
      { length: 3000 },
      (_, index) => `  - name: "entry ${index}", path: a\\b/${index}`,
    )
    const pairs = Object.fromEntries(lines.map((line, index) => [`k${index}`, line]))
    const config = JSON.stringify({ config: JSON.stringify(pairs) })
    const hides = withEnv({ CONFIG: lines.join('\n'), APP_CONFIG: config })
    expect(hides.redact(`at ${lines[77]!.trim()}!`)).toBe('at [redacted env.CONFIG]!')
    expect(hides.redact(JSON.stringify({ env: config }).slice(0, -20))).not.toContain('entry 77')
  })

  it('comes to an end with text that is made to keep it busy', () => {
    const hides = withEnv({ KEY: String.raw`\\\\a\b\c//++  \\\\`, TOKEN: '\\'.repeat(500) })
    const text = '\\'.repeat(60_000)
    expect(hides.redact(text)).toContain('[redacted env.TOKEN]')
  })

  it('replaces secrets of any length', () => {
    const secret = 's3cr3t-'.repeat(100_000)
    const hides = withEnv({ KEY: secret, TOKEN: 'other-token', NOTES: 'n'.repeat(70_000) })
    expect(hides.redact(`<${secret}> <other-token>`)).toBe('<[redacted env.KEY]> <[redacted env.TOKEN]>')
    expect(withEnv({ KEY: secret }).redact(`<${secret}>`)).toBe('<[redacted env.KEY]>')
  })

  it('leaves words of everyday text alone: short values, very short ones even of secrets', () => {
    const hides = withEnv({ MODE: 'verbose', API_KEY: 'abc', LONG: 'production', TOKEN: 'abcd', FLAG: '' })
    expect(hides.redact('verbose abc production abcd')).toBe(
      'verbose abc [redacted env.LONG] [redacted env.TOKEN]',
    )
  })

  it('knows a secret by its name where it is short, but not a switch', () => {
    const hides = withEnv({
      DB_PASS: 'hunt3',
      PGPWD: 'pgpgp',
      MY_PIN: '4711',
      PATH_STYLE: 'auto',
      BYPASS: 'true',
    })
    expect(hides.redact('hunt3 pgpgp 4711 auto true')).toBe(
      '[redacted env.DB_PASS] [redacted env.PGPWD] [redacted env.MY_PIN] auto true',
    )
  })

  it('survives a value that is not well-formed', () => {
    expect(withEnv({ A_KEY: 'ab\u{d800}cd' }).redact('<ab\u{d800}cd>')).toBe('<[redacted env.A_KEY]>')
  })
})
