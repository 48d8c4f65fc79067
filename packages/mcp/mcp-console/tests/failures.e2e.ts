/** What can be wrong, and that the exit code and one line say so: 1 for a server or a call, 2 for how it is written. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fixtureCommand, startHttpFixture, stdioFixture } from '@dsh-mcp/fixtures'
import { describe, expect, it } from 'vitest'
import { compose, httpRow, run, runJson, stdioRow } from './support.ts'

const good = stdioRow('good', stdioFixture('legacy'))

/** The lines that say what is wrong. */
function errors(stderr: string): string[] {
  return stderr.split('\n').filter((line) => line.startsWith('error: '))
}

describe('the command line', () => {
  it.each([
    [['stats'], /unknown command 'stats' \(Did you mean status\?\)/],
    [['tools', '--jsn'], /unknown option '--jsn' \(Did you mean --json\?\)/],
    [['call'], /missing required argument 'tool'/],
    [['--timeout', '1.5', 'status'], /whole number of milliseconds/],
    [[], /there is no command/],
  ])('%j is refused in one line', async (args, reason) => {
    await using composition = await compose([good])
    const { code, stdout, stderr } = await run(args, { cwd: composition.folder })
    expect({ code, stdout }).toEqual({ code: 2, stdout: expect.not.stringContaining('SERVER') as string })
    expect(stderr).toMatch(reason)
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  })

  it.each([
    ['nope', 'ARGS is not JSON'],
    ['[1]', 'ARGS is a list, not an object'],
    ['null', 'ARGS is null, not an object'],
    ['@missing.json', 'cannot read missing.json: there is no such file or folder; arguments'],
    ['@.', 'cannot read .: it is a folder; arguments'],
    ['@', '@ is followed by the name of a file; arguments'],
  ])('the arguments %s are refused before anything starts', async (written, reason) => {
    await using composition = await compose([good])
    const { code, value } = await runJson(['call', 'mcp__good__echo', written], { cwd: composition.folder })
    expect({ code, value }).toEqual({ code: 2, value: { error: expect.stringContaining(reason) as string } })
  })

  it('a tool that is not there is told with the closest name', async () => {
    await using composition = await compose([good])
    const call = (tool: string) => run(['call', tool], { cwd: composition.folder })
    const typo = await call('mcp__good__ecoh')
    expect(typo.code).toBe(2)
    expect(errors(typo.stderr)).toEqual([
      'error: there is no tool mcp__good__ecoh (did you mean mcp__good__echo?); `dsh-mcp tools good` lists what there is',
    ])
    expect(errors((await call('echo')).stderr)[0]).toContain('did you mean mcp__good__echo?')
    expect(errors((await call('mcp__god__echo')).stderr)).toEqual([
      'error: cordis.yml has no server god for the tool mcp__god__echo (did you mean good?); its servers are good',
    ])
  })

  it('a tool of a row that cannot be loaded is told with that row', async () => {
    await using composition = await compose([good, { id: 'absent', name: './absent.mjs' }])
    const { code, stderr } = await run(['call', 'mcp__absent__echo'], { cwd: composition.folder })
    expect(code).toBe(2)
    expect(errors(stderr)).toEqual([
      expect.stringMatching(/^error: row "absent" \(\.\/absent\.mjs\): cannot be loaded: /),
      'error: cordis.yml has no server absent for the tool mcp__absent__echo; its servers are good',
    ])
  })

  it('a folder that cannot be made is refused before the call', async () => {
    await using composition = await compose([good])
    const args = ['call', 'mcp__good__echo', '{"message":"hi"}', '--save', 'cordis.yml']
    const { code, value } = await runJson(args, { cwd: composition.folder })
    const error = 'cannot save to cordis.yml: there is a file of this name'
    expect({ code, value }).toEqual({ code: 2, value: { error } })
  })

  it.runIf(process.platform === 'linux')('a result is shown although it cannot be saved', async () => {
    await using composition = await compose([good])
    // A folder that exists and takes no file, whoever asks.
    const args = ['call', 'mcp__good__image', '{}', '--save', '/proc/self']
    const { code, stdout, stderr } = await run(args, { cwd: composition.folder })
    expect(code).toBe(1)
    expect(stdout).toContain('image/png')
    expect(errors(stderr)).toEqual([expect.stringContaining('cannot save to /proc/self: ')])
  })

  it('a server that is not there is told with the closest name', async () => {
    await using composition = await compose([good])
    const { code, stderr } = await run(['resources', 'goood'], { cwd: composition.folder })
    expect(code).toBe(2)
    expect(errors(stderr)).toEqual([
      'error: cordis.yml configures no server "goood" (did you mean good?); its servers are good',
    ])
  })

  it('help and version are results', async () => {
    await using composition = await compose([good])
    const version = await run(['--version'], { cwd: composition.folder })
    expect(version).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) as string,
    })
    const help = await run(['call', '--help'], { cwd: composition.folder })
    expect(help).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringContaining('--save <dir>') as string,
    })
  })
})

describe('the composition', () => {
  it('is named when the time is over before it is loaded', async () => {
    await using composition = await compose([good])
    for (const command of [['status'], ['run'], ['tools'], ['prompt'], ['call', 'mcp__good__echo']]) {
      const { code, value } = await runJson([...command, '--timeout', '1'], { cwd: composition.folder })
      const error = 'cordis.yml was not loaded within 1 ms; --timeout MS waits longer'
      expect({ command, code, value }).toEqual({ command, code: 1, value: { error } })
    }
  })

  it('is asked for when it is a folder', async () => {
    await using composition = await compose([])
    const { code, value } = await runJson(['status', '--config', '.'], { cwd: composition.folder })
    const error = expect.stringMatching(/: it is a folder; name a file with --config PATH$/) as string
    expect({ code, value }).toEqual({ code: 2, value: { error } })
  })

  it('is asked for when it is not there', async () => {
    await using composition = await compose([])
    const { code, value } = await runJson(['status', '--config', 'other.yml'], { cwd: composition.folder })
    expect({ code, value }).toEqual({
      code: 2,
      value: { error: expect.stringMatching(/other\.yml: there is no such file/) as string },
    })
  })

  it.each([
    ['a: b\n c: d', /^error: cordis\.yml: bad indentation of a mapping entry \(2:3\)$/m],
    ['a: b', /^error: cordis\.yml: config file must be a top-level array/m],
    ['', /^error: cordis\.yml: config file must be a top-level array/m],
    [
      '- 5\n- [a]\n-',
      /^error: cordis\.yml: row 1 is no mapping.*; row 2 is no mapping.*; row 3 is no mapping/m,
    ],
    [
      "- id: a\n- name: 5\n- name: ''",
      /^error: cordis\.yml: row 1 has no name.*; row 2 has no name.*; row 3 has/m,
    ],
    ['- {id: 5, name: not-there}', /^error: row "5" \(not-there\): cannot be loaded/m],
    ['- {id: [1], name: a}', /^error: cordis\.yml: row 1 has an id that is no text$/m],
    ['- {id: 5, name: a}\n- {id: "5", name: b}', /^error: cordis\.yml: row 2 has the id "5", as row 1 has$/m],
    [
      '- {id: a, name: a}\n- {name: b, group: true, config: [{id: b, name: c}, {id: a, name: d}]}',
      /^error: cordis\.yml: row 2, row 2 has the id "a", as row 1 has$/m,
    ],
  ])('%j is refused', async (text, reason) => {
    await using composition = await compose(text)
    const { code, stdout, stderr } = await run(['run'], { cwd: composition.folder })
    expect({ code, stdout }).toEqual({ code: 2, stdout: expect.not.stringContaining('SERVER') as string })
    expect(stderr).toMatch(reason)
  })

  it('is shown as far as it works when a row is refused; no secret is told', async () => {
    const secret = 'hunter2-hunter2'
    await using composition = await compose([
      good,
      stdioRow('bad', stdioFixture('legacy'), { env: { TOKEN: secret }, comand: 'x' }),
      { ...good, id: 'again' },
    ])
    const { code, value, stdout, stderr } = await runJson(['status'], { cwd: composition.folder })
    expect(code).toBe(2)
    expect(value).toEqual([
      expect.objectContaining({ serverName: 'good', status: 'connected', error: null }),
      expect.objectContaining({
        serverName: 'bad',
        status: 'failed',
        error: expect.stringContaining('comand: unknown field') as string,
      }),
      expect.objectContaining({
        serverName: 'good',
        status: 'failed',
        error: expect.stringContaining('already uses serverName') as string,
      }),
    ])
    expect(stdout + stderr).not.toContain(secret)
  })

  it('names the row whose plugin cannot be loaded, or fails', async () => {
    await using composition = await compose([
      good,
      { id: 'absent', name: '@deepseek-ai/dsh-not-there' },
      { id: 'broken', name: './broken.mjs' },
      { id: 'throws', name: './throws.mjs' },
    ])
    await writeFile(join(composition.folder, 'broken.mjs'), 'export default = 1')
    await writeFile(
      join(composition.folder, 'throws.mjs'),
      'export function apply() { throw new Error("no port") }',
    )
    const { code, stdout, stderr } = await run(['status'], { cwd: composition.folder })
    expect(code).toBe(2)
    expect(stdout).toMatch(/^good +stdio +connected/m)
    expect(errors(stderr)).toEqual([
      `error: row "absent" (@deepseek-ai/dsh-not-there): cannot be loaded: Cannot find package '@deepseek-ai/dsh-not-there'; install it, or correct its name`,
      `error: row "broken" (./broken.mjs): cannot be loaded: Unexpected token '='`,
      'error: row "throws" (./throws.mjs): no port',
    ])
  })

  it('lets a call pass that does not need the broken row', async () => {
    await using composition = await compose([good, { id: 'absent', name: '@deepseek-ai/dsh-not-there' }])
    const { code, stdout } = await run(['call', 'mcp__good__echo', '{"message":"hi"}'], {
      cwd: composition.folder,
    })
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'hi\n' })
  })

  it('names the service that a row waits for in vain, and who provides it', async () => {
    await using composition = await compose(
      JSON.stringify([good, { ...good, id: 'other', inject: ['nobody'] }]),
    )
    const { code, stdout } = await run(['status'], { cwd: composition.folder })
    expect(code).toBe(2)
    expect(stdout).toContain('waits for tools, which no row provides; add a row for @deepseek-ai/dsh-tools')
    expect(stdout).toMatch(/waits for .*nobody/)
  })

  it('without the resource service is told so by the commands that need it', async () => {
    await using composition = await compose(
      JSON.stringify([
        { id: 'tools', name: '@deepseek-ai/dsh-tools' },
        { id: 'p', name: '@deepseek-ai/dsh-system-prompt' },
        good,
      ]),
    )
    const { code, stderr } = await run(['resources', 'good'], { cwd: composition.folder })
    expect(code).toBe(2)
    expect(errors(stderr)[0]).toContain('add a row for @deepseek-ai/dsh-mcp-resources')
    const status = await runJson(['status'], { cwd: composition.folder })
    expect(status).toMatchObject({ code: 0, value: [{ resourceCount: null }] })
  })
})

describe('servers', () => {
  // It is not tried again while a test looks at it.
  const reconnect = { initialDelayMs: 600_000, maxDelayMs: 600_000 }
  const dead = stdioRow('dead', fixtureCommand('exits-at-once'), { reconnect })

  it('that are down are told with the reason, beside those that are up', async () => {
    await using composition = await compose([good, dead])
    const { code, value } = await runJson(['status'], { cwd: composition.folder })
    expect(code).toBe(1)
    expect(value).toEqual([
      expect.objectContaining({ serverName: 'good', status: 'connected' }),
      expect.objectContaining({
        serverName: 'dead',
        status: 'reconnecting',
        toolCount: 0,
        connectMs: null,
        error: expect.stringContaining('exited with code 1') as string,
      }),
    ])
    const tools = await runJson(['tools'], { cwd: composition.folder })
    expect(tools.code).toBe(1)
    expect(tools.value).toContainEqual(expect.objectContaining({ name: 'mcp__good__echo' }))
    expect(errors(tools.stderr)[0]).toContain('server "dead" is reconnecting')
  })

  it('that must start are failed, not refused', async () => {
    await using composition = await compose([
      stdioRow('must', { command: 'no-such-command', args: [] }, { failOnStartupError: true }),
    ])
    const { code, stdout } = await run(['status'], { cwd: composition.folder })
    expect(code).toBe(1)
    expect(stdout).toMatch(/^must: the command "no-such-command" was not found/m)
  })

  it('that are down fail a call to them', async () => {
    await using composition = await compose([dead])
    const { code, value } = await runJson(['call', 'mcp__dead__echo'], { cwd: composition.folder })
    expect({ code, value }).toEqual({
      code: 1,
      value: {
        error: expect.stringMatching(/server "dead" is reconnecting: .*exited with code 1/) as string,
      },
    })
  })

  it('that stay silent are waited for as long as --timeout says, with a word to whoever waits', async () => {
    await using composition = await compose([stdioRow('mute', fixtureCommand('never-answers'))])
    const { code, stdout, stderr } = await run(['status', '--timeout', '1500'], { cwd: composition.folder })
    expect(code).toBe(1)
    expect(stdout).toMatch(/^mute +stdio +connecting/m)
    expect(stdout).toMatch(/^mute: not connected within 1500 ms; --timeout MS waits longer$/m)
    expect(stderr).toMatch(/^still starting after \d s: mute$/m)
  })

  it('that do not answer a call end it at --timeout, cancelled', async () => {
    await using http = await startHttpFixture({ era: 'legacy' })
    await using composition = await compose([httpRow('web', http.url)])
    const { code, value, stderr } = await runJson(['call', 'mcp__web__hold', '--timeout', '15000'], {
      cwd: composition.folder,
    })
    expect({ code, value }).toEqual({
      code: 1,
      value: {
        error:
          'the call of mcp__web__hold did not end within 15000 ms and was cancelled; give it more time with --timeout MS',
      },
    })
    expect(stderr).toMatch(/^the call of mcp__web__hold is still running, \d+ s; Ctrl-C cancels it$/m)
    expect(http.requestsFor('notifications/cancelled')).toHaveLength(1)
  })
})
