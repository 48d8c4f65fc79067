import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { isAlive } from '@dsh-mcp/host'
import { ProtocolError, type JSONRPCMessage } from '@modelcontextprotocol/client'
import { describe, expect, it, vi } from 'vitest'
import { ConnectionFailure } from '../../src/diagnostics/failure.ts'
import type { StdioOptions } from '../../src/transport/stdio.ts'
import { eventually, gone, killAtEnd, temporaryFolder } from '../support.ts'
import { run, STAY, watch } from './stdio-support.ts'

async function startFailure(options: Partial<StdioOptions> & Pick<StdioOptions, 'command'>): Promise<string> {
  const { transport } = watch(options)
  const error: unknown = await transport.start().catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(ConnectionFailure)
  await transport.close()
  return (error as ConnectionFailure).message
}

describe('the process', () => {
  it('gets its arguments as they are, without a shell', async () => {
    const args = ['a b', '$HOME', '*', '"', "'", '', '; exit 1', '--flag']
    const { messages } = await run(`${STAY} say(1, { args: process.argv.slice(1) })`, { args })
    await eventually(() => expect(messages).toMatchObject([{ result: { args } }]))
  })

  it('gets the environment of the host without its secrets, and the configured one on top', async () => {
    vi.stubEnv('SOME_API_KEY', 'host-secret')
    vi.stubEnv('DSH_HOME', '/home')
    vi.stubEnv('GITHUB_TOKEN', 'host-token')
    vi.stubEnv('ORDINARY', 'from the host')
    vi.stubEnv('CHANGED', 'from the host')
    const env = { CHANGED: 'configured', GITHUB_TOKEN: 'configured-token' }
    const { messages } = await run(`${STAY} say(1, process.env)`, { env })
    await eventually(() => expect(messages).toHaveLength(1))
    const { result } = messages[0] as { result: Record<string, string> }
    expect(result).toMatchObject({
      ORDINARY: 'from the host',
      CHANGED: 'configured',
      GITHUB_TOKEN: 'configured-token',
      PATH: process.env['PATH'],
    })
    expect(result).not.toHaveProperty('SOME_API_KEY')
    expect(result).not.toHaveProperty('DSH_HOME')
  })

  it('starts in the configured folder', async () => {
    const cwd = temporaryFolder()
    const { messages } = await run(`${STAY} say(1, { cwd: process.cwd() })`, { cwd })
    await eventually(() => expect(messages).toMatchObject([{ result: { cwd } }]))
  })

  it('has an id and a standard error once it runs, so that the SDK takes the transport for stdio', async () => {
    const { transport } = watch({ command: process.execPath, args: ['--eval', STAY] })
    expect(transport.pid).toBeNull()
    expect(transport.stderr).toBeNull()
    await transport.start()
    expect(isAlive(transport.pid!)).toBe(true)
    expect(transport.stderr).not.toBeNull()
  })
})

describe('a command that cannot be started', () => {
  it('that is in no folder of PATH: which folders, and what to do', async () => {
    vi.stubEnv('PATH', ['/usr/bin', '/opt/some thing', '/usr/bin'].join(delimiter))
    expect(await startFailure({ command: 'no-such-mcp-server' })).toBe(
      'the command "no-such-mcp-server" was not found (searched PATH: /usr/bin /opt/some thing); install it, or give its full path in "command"',
    )
    expect(await startFailure({ command: 'no-such-mcp-server', env: { PATH: '/configured' } })).toContain(
      '(searched PATH: /configured)',
    )
  })

  it('in a host without PATH', async () => {
    vi.stubEnv('PATH', undefined)
    expect(await startFailure({ command: 'no-such-mcp-server' })).toContain('(searched PATH: )')
  })

  it('that names no file', async () => {
    expect(await startFailure({ command: '/nonexistent/server' })).toBe(
      'the command "/nonexistent/server" was not found (there is no such file); install it, or give its full path in "command"',
    )
  })

  it('that is a whole command line', async () => {
    expect(await startFailure({ command: 'node server.mjs' })).toMatch(
      /; put what follows the program into "args"$/,
    )
  })

  it('whose interpreter is missing', async () => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'server'), '#!/nonexistent/python\n', { mode: 0o755 })
    const message =
      'names an interpreter in its first line that was not found; install it, or name one in "command"'
    expect(await startFailure({ command: join(folder, 'server') })).toContain(message)
    expect(await startFailure({ command: './server', cwd: folder })).toBe(`the command "./server" ${message}`)
  })

  it('that may not be executed', async () => {
    const command = join(temporaryFolder(), 'server')
    writeFileSync(command, 'text')
    chmodSync(command, 0o644)
    expect(await startFailure({ command })).toBe(
      `the command ${JSON.stringify(command)} may not be executed; make it executable, or name its interpreter in "command"`,
    )
  })

  it('because of its working directory, and not because of the command', async () => {
    const folder = temporaryFolder()
    const file = join(folder, 'file')
    writeFileSync(file, '')
    for (const cwd of [join(folder, 'absent'), file]) {
      expect(await startFailure({ command: process.execPath, cwd })).toBe(
        `the working directory ${JSON.stringify(cwd)} (cwd) is not a folder`,
      )
    }
  })

  it('for a reason that has no words of its own, which is shown without secrets', async () => {
    const command = `${process.execPath}${'/x'.repeat(10_000)}`
    const message = await startFailure({ command })
    expect(message).toMatch(/^the command ".*characters\)" could not be started: .*ENAMETOOLONG/u)
    const secret = 's3cr3t'.repeat(100_000)
    const tooBig = await startFailure({ command: process.execPath, args: [secret], env: { API_KEY: secret } })
    expect(tooBig).toMatch(/could not be started: .*E2BIG/u)
    expect(tooBig).not.toContain('s3cr3ts3cr3t')
  })

  it('leaves nothing behind, and shows control characters escaped', async () => {
    const { transport, closes } = watch({ command: '/nonexistent/\u{1b}[2J' })
    await expect(transport.start()).rejects.toThrow(String.raw`"/nonexistent/\\u{1b}[2J"`)
    expect(closes).toBe(0)
    await transport.close()
    expect(transport.pid).toBeNull()
  })
})

describe('messages', () => {
  it('are exchanged one a line', async () => {
    const { transport, messages } = await run(
      `let text = ''; process.stdin.on('data', (chunk) => { text += chunk; if (text.endsWith('\\n')) say(1, { text }) })`,
    )
    const message: JSONRPCMessage = {
      jsonrpc: '2.0',
      id: 1,
      method: 'ping',
      params: { text: 'a\nb\u{2028}ü' },
    }
    await transport.send(message)
    await eventually(() => expect(messages).toHaveLength(1))
    const { result } = messages[0] as unknown as { result: { text: string } }
    expect(result.text).toMatch(/^[^\n]*\n$/u)
    expect(JSON.parse(result.text)).toEqual(message)
  })

  it('that were written just before the exit arrive', async () => {
    const { messages, closed, transport } = await run(
      `say(1, { big: 'x'.repeat(500000) }); process.exitCode = 3`,
    )
    transport.stderr?.resume()
    await closed
    expect(messages).toHaveLength(1)
  })

  it('cannot be sent before the start or after the end', async () => {
    const message: JSONRPCMessage = { jsonrpc: '2.0', id: 1, method: 'ping' }
    const { transport } = watch({ command: process.execPath, args: ['--eval', STAY] })
    await expect(transport.send(message)).rejects.toThrow('Not connected')
    await transport.start()
    await transport.close()
    await expect(transport.send(message)).rejects.toThrow('Not connected')
  })

  it('are refused when the server has closed its input, and the connection ends, although the process does not', async () => {
    const { transport, errors, closed, messages } = await run(
      `require('fs').closeSync(0); say(1); setInterval(() => {}, 1000)`,
    )
    await eventually(() => expect(messages).toHaveLength(1))
    const message: JSONRPCMessage = { jsonrpc: '2.0', id: 1, method: 'ping', params: { x: 'x'.repeat(1e6) } }
    await expect(transport.send(message)).rejects.toThrow('the server does not read its input: ')
    await eventually(() => expect(errors.join()).toContain('EPIPE'))
    expect(transport.judge(new Error('any'))).toEqual({ kind: 'alive' })
    await closed
    expect(transport.explain(undefined, '').message).toBe(
      'the server closed its standard input and did not exit',
    )
  })

  it('that a server is too short-lived to read fail when its exit is known, which is the reason', async () => {
    const { transport } = await run(`console.error('Error: A_TOKEN is not set'); process.exitCode = 7`)
    const message: JSONRPCMessage = { jsonrpc: '2.0', id: 1, method: 'ping', params: { x: 'x'.repeat(1e6) } }
    const error: unknown = await transport.send(message).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ message: expect.stringContaining('the server does not read its input: ') })
    expect(transport.explain(error, 'while connecting')).toMatchObject({
      message: 'the server process exited with code 7 while connecting; it wrote: Error: A_TOKEN is not set',
      hasExited: true,
    })
  })

  it('cannot come from a server that has closed its output, so the connection ends', async () => {
    const { transport, closed } = await run(`require('fs').closeSync(1); setInterval(() => {}, 1000)`)
    await closed
    const failure = transport.explain(undefined, '')
    expect(failure.message).toBe('the server closed its standard output and did not exit')
    expect(failure.hasExited).toBe(false)
  })
})

describe('a message that its handler cannot take', () => {
  it.each(['result', 'error'])('is reported, and the connection goes on: a deep %s', async (kind) => {
    const deep = `'{"a":' + '['.repeat(100000) + ']'.repeat(100000) + '}'`
    const body = kind === 'result' ? deep : `'{"code":-32000,"message":"deep","data":' + ${deep} + '}'`
    const watched = await run(
      `${STAY} process.stdout.write('{"jsonrpc":"2.0","id":999,"${kind}":' + ${body} + '}\\n'); say(1)`,
    )
    const take = watched.transport.onmessage
    // What the SDK does with an answer to a request that it does not know.
    watched.transport.onmessage = (message) => {
      if ('id' in message && message.id === 999) JSON.stringify(message)
      take?.(message)
    }
    await eventually(() => expect(watched.messages).toMatchObject([{ id: 1 }]))
    expect(watched.errors).toEqual([expect.stringContaining('call stack')])
    expect(watched.closes).toBe(0)
  })
})

describe('what is not protocol on standard output', () => {
  it('is skipped with one warning that shows a sample', async () => {
    const { messages, noise, closes } = await run(
      `${STAY} console.log('Server \\u001b[32mready\\u001b[0m with hunter22!'); console.log('{"level":"info"}'); console.log(''); console.log(' \\r'); say(1); console.log('more'); say(2)`,
      { env: { API_KEY: 'hunter22' } },
    )
    await eventually(() => expect(messages).toMatchObject([{ id: 1 }, { id: 2 }]))
    expect(noise).toEqual([String.raw`Server \u{1b}[32mready\u{1b}[0m with [redacted env.API_KEY]!`])
    expect(closes).toBe(0)
  })

  it('is an error each time after the first', async () => {
    const { messages, noise, errors } = await run(
      `${STAY} console.log('one'); console.log('two'); console.log('three'); say(1)`,
    )
    await eventually(() => expect(messages).toHaveLength(1))
    expect(noise).toEqual(['one'])
    expect(errors).toEqual([
      'standard output carries what is not protocol: two',
      'standard output carries what is not protocol: three',
    ])
  })

  it('is shown as a bounded sample', async () => {
    const { noise } = await run(`${STAY} console.log('x'.repeat(100000))`)
    await eventually(() => expect(noise).toHaveLength(1))
    expect(noise[0]!.length).toBeLessThanOrEqual(120)
  })

  it('may be any bytes', async () => {
    const { messages, closes } = await run(
      `${STAY} process.stdout.write(Buffer.from([0xff, 0xfe, 0, 0xc3, 0x28, 10])); say(1)`,
    )
    await eventually(() => expect(messages).toMatchObject([{ id: 1 }]))
    expect(closes).toBe(0)
  })
})

describe('an answer that is not JSON-RPC', () => {
  it.each([
    [
      'a code that is no number',
      '"error":{"code":"ENOENT","message":"no"}',
      'the code of its error is no whole number',
    ],
    ['an error without a message', '"error":{"code":1}', 'its error has no message'],
    ['an error that is none', '"error":"no"', 'its error is no object'],
    ['no error', '"error":null', 'its error is no object'],
    ['no result', '"result":null', 'its result is no object'],
    ['a list for a result', '"result":[]', 'its result is no object'],
    ['something else beside an error', '"error":{"code":1,"message":"no"},"more":1', 'Unrecognized key'],
    ['something that is wrong in a result', '"result":{"_meta":"x"}', 'Invalid input'],
    ['no JSON', '"result":{"a":NaN}', 'is not valid JSON'],
  ])('fails the request that it answers: %s', async (_, rest, why) => {
    const line = JSON.stringify(`{"jsonrpc":"2.0","id":1,${rest}}`)
    const { messages, noise, transport } = await run(`${STAY} console.log(${line})`)
    await eventually(() => expect(messages).toHaveLength(1))
    const [answer] = messages as unknown as [
      { id: unknown; error: { code: number; message: string; data: unknown } },
    ]
    expect(answer.id).toBe(1)
    expect(answer.error.message).toMatch(/^the server's answer is not JSON-RPC: /)
    expect(answer.error.message).toContain(why)
    const { code, message, data } = answer.error
    expect(transport.judge(new ProtocolError(code, message, data))).toEqual({
      kind: 'alive',
      error: new Error(message),
    })
    expect(noise).toEqual([])
  })

  it.each([
    '{"id":1,"result":{}}',
    '{"jsonrpc":"2.0","id":null,"error":5}',
    '{"jsonrpc":"2.0","id":1}',
    '5',
    'null',
    '"{}"',
  ])('is noise where it answers nothing: %s', async (line) => {
    const { messages, noise } = await run(`${STAY} console.log(${JSON.stringify(line)})`)
    await eventually(() => expect(noise).toEqual([line]))
    expect(messages).toEqual([])
  })
})

describe('a message over the limit', () => {
  it('ends the connection, and says which setting it is about', async () => {
    const watched = await run(`${STAY} say(1); process.stdout.write('{"x":"' + 'x'.repeat(2000)); say(2)`, {
      maxMessageBytes: 1024,
    })
    await watched.closed
    expect(watched.messages).toMatchObject([{ id: 1 }])
    expect(watched.transport.explain(undefined, '').message).toBe(
      'the server sent a message of more than 1024 bytes (maxMessageBytes)',
    )
    const { pid } = watched.transport
    await watched.transport.close()
    expect(isAlive(pid!)).toBe(false)
    expect(watched.closes).toBe(1)
  })

  it('takes with it what follows in the same breath', async () => {
    const watched = await run(
      `${STAY} process.stdout.write('x'.repeat(2000) + '\\n' + JSON.stringify({ jsonrpc: '2.0', id: 7, result: {} }) + '\\nnoise\\n')`,
      { maxMessageBytes: 1024 },
    )
    await watched.closed
    await watched.transport.close()
    expect(watched.messages).toEqual([])
    expect(watched.noise).toEqual([])
  })
})

describe('the exit of the process', () => {
  it('ends the connection once, with the exit code and the last output', async () => {
    const watched = await run(
      `console.error('starting'); console.error('Error: A_TOKEN is not set'); process.exitCode = 7`,
    )
    await watched.closed
    const failure = watched.transport.explain(new Error('Connection closed'), 'while connecting')
    expect(failure).toBeInstanceOf(ConnectionFailure)
    expect(failure).toMatchObject({
      message: 'the server process exited with code 7 while connecting; it wrote: Error: A_TOKEN is not set',
      output: ['starting', 'Error: A_TOKEN is not set'],
      hasExited: true,
      cause: new Error('Connection closed'),
    })
    await watched.transport.close()
    expect(watched.closes).toBe(1)
  })

  it('by a signal is told as such', async () => {
    const { transport, closed } = await run(STAY)
    process.kill(transport.pid!, 'SIGKILL')
    await closed
    expect(transport.explain(undefined, '').message).toBe('the server process was ended by SIGKILL')
  })

  it('is noticed when a helper holds the pipes open', async () => {
    const { transport, closed, stderr } = await run(
      `const helper = require('child_process').spawn('sleep', ['600'], { stdio: ['ignore', 'inherit', 'inherit'] });
       console.error(helper.pid); process.stderr.write('no line feed'); helper.unref(); process.stdin.unref?.(); process.exit(1)`,
    )
    await closed
    const helper = Number(stderr[0])
    killAtEnd(helper)
    expect(transport.explain(undefined, '').message).toBe(
      'the server process exited with code 1; it wrote: no line feed',
    )
    await transport.close()
    expect(isAlive(helper)).toBe(false)
  })

  it('while it is being closed shows only when it went wrong, for a server that cannot read its input', async () => {
    const { transport, messages } = await run(
      `say(1); process.stdin.resume().on('end', () => { console.error('bad input'); process.exit(9) })`,
    )
    await eventually(() => expect(messages).toHaveLength(1))
    await transport.close()
    expect(transport.explain(new Error('timed out'), 'while connecting')).toMatchObject({
      message: 'timed out while connecting (the server process exited with code 9); it wrote: bad input',
      hasExited: false,
    })
  })

  it('without a fault adds nothing', async () => {
    const { transport, messages } = await run(`say(1); ${STAY}`)
    await eventually(() => expect(messages).toHaveLength(1))
    await transport.close()
    expect(transport.explain(undefined, '').message).toBe('the connection closed')
    const failure = new ConnectionFailure('as it is')
    expect(transport.explain(failure, 'later')).toBe(failure)
  })
})

describe('close', () => {
  it('ends the connection at once and the process afterwards, once for all calls', async () => {
    const watched = await run(STAY)
    const pid = watched.transport.pid!
    const ending = watched.transport.close()
    expect(watched.closes).toBe(1)
    expect(watched.transport.close()).toBe(ending)
    await ending
    expect(isAlive(pid)).toBe(false)
    expect(watched.closes).toBe(1)
  })

  it('drops what still comes from the server', async () => {
    const { transport, messages } = await run(
      `say(1); process.stdin.resume().on('end', () => { say(2); process.exit(0) })`,
    )
    await eventually(() => expect(messages).toHaveLength(1))
    await transport.close()
    expect(messages).toHaveLength(1)
  })

  it('before the start keeps the process from being started', async () => {
    const file = join(temporaryFolder(), 'started')
    const { transport, closes } = watch({
      command: process.execPath,
      args: ['--eval', `require('fs').writeFileSync(process.argv[1], '')`, file],
    })
    await transport.close()
    await expect(transport.start()).rejects.toThrow('Not connected')
    expect(transport.pid).toBeNull()
    expect(existsSync(file)).toBe(false)
    expect(closes).toBe(0)
  })

  it('in the middle of the start ends the process', async () => {
    const { transport } = watch({ command: process.execPath, args: ['--eval', STAY] })
    const start = transport.start()
    const pid = transport.pid!
    await transport.close()
    await start
    expect(isAlive(pid)).toBe(false)
  })

  it('does not wait for a server that leaves its input unread', async () => {
    const { transport } = await run('setInterval(() => {}, 1000)')
    const sending = transport
      .send({ jsonrpc: '2.0', id: 1, method: 'ping', params: { x: 'x'.repeat(1e7) } })
      .catch((error: Error) => error.message)
    const pid = transport.pid!
    await transport.close()
    await gone(pid)
    expect(await sending).toContain('the server does not read its input')
  })

  it('takes a wrapper, its helpers and its daemons along', async () => {
    const folder = temporaryFolder()
    const watched = watch({
      command: 'sh',
      args: [
        '-c',
        'sleep 600 & echo $! >helper; setsid sh -c "echo \\$\\$ >daemon; exec sleep 600" & exec cat',
      ],
      cwd: folder,
    })
    await watched.transport.start()
    const pid = (name: string) => Number(readFileSync(join(folder, name), 'utf8'))
    await eventually(() => expect(isAlive(pid('daemon'))).toBe(true))
    const pids = [watched.transport.pid!, pid('helper'), pid('daemon')]
    for (const each of pids) killAtEnd(each)
    await watched.transport.close()
    expect(pids.map(isAlive)).toEqual([false, false, false])
  })
})

it('standard error goes to the log, clean', async () => {
  const { stderr } = await run(`${STAY} console.error('key \\u001b hunter22')`, {
    env: { API_KEY: 'hunter22' },
  })
  await eventually(() => expect(stderr).toEqual([String.raw`key \u{1b} [redacted env.API_KEY]`]))
})
