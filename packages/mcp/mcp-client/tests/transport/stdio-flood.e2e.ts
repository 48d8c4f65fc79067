/** Local servers that write without pause, or do not read what they asked for. */
import { isAlive } from '@dsh-mcp/host'
import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import { describe, expect, it } from 'vitest'
import { eventually, fixtureConfig, host, killAtEnd, mount, scriptConfig, turns } from '../support.ts'
import { run, STAY, type Watched } from './stdio-support.ts'

const FLOODS: Record<string, string> = {
  'answers to nothing': '{"jsonrpc":"2.0","id":999,"result":{}}',
  'progress of nothing':
    '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":999,"progress":1}}',
  'malformed messages': '{"jsonrpc":"2.0","id":null,"result":7}',
  noise: 'blah',
}

/** Writes a line without pause, whether anybody reads it or not. */
const flood = (line: string) => `const line = ${JSON.stringify(`${line}\n`)}.repeat(1000);
  const flood = () => { if (process.stdout.write(line)) setImmediate(flood); else process.stdout.once('drain', flood) };`

const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}'

/** Answer every request, as the SDK does. */
function answerPings({ transport, messages }: Watched): void {
  const take = transport.onmessage
  transport.onmessage = (message: JSONRPCMessage) => {
    take?.(message)
    if ('method' in message && 'id' in message)
      transport.send({ jsonrpc: '2.0', id: message.id, result: {} }).catch(() => {})
  }
  expect(messages).toEqual([])
}

/** The ids of all answers. */
const ids = (messages: readonly JSONRPCMessage[]) =>
  messages.map((message) => ('id' in message ? message.id : undefined))

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)

describe('very many lines at once', () => {
  it('arrive complete and in order, in shares between which the rest of the host gets its turn', async () => {
    const { transport, messages } = await run(
      `${STAY} const all = []; for (let id = 0; id < 10000; id++) all.push(JSON.stringify({ jsonrpc: '2.0', id, result: {} }));
       process.stdout.write(all.join('\\n') + '\\n')`,
    )
    let inThisTurn = 0
    let most = 0
    const take = transport.onmessage
    transport.onmessage = (message) => {
      take?.(message)
      most = Math.max(most, ++inThisTurn)
    }
    while (messages.length < 10_000) {
      inThisTurn = 0
      await turns(1)
    }
    expect(ids(messages)).toEqual(numbers(10_000))
    expect(most).toBeLessThan(500)
  })

  it.each(['', 'helper'])('arrive when the process exits after them %s', async (withHelper) => {
    const { messages, closed, transport, stderr } = await run(
      `if (process.argv[1] === 'helper') {
         const helper = require('child_process').spawn('sleep', ['600'], { stdio: ['ignore', 'inherit', 'inherit'] });
         console.error(helper.pid); helper.unref();
       }
       const all = []; for (let id = 0; id < 3000; id++) all.push(JSON.stringify({ jsonrpc: '2.0', id, result: {} }));
       process.stdout.write(all.join('\\n') + '\\n'); process.exitCode = 3`,
      { args: [withHelper] },
    )
    const take = transport.onmessage
    transport.onmessage = (message) => {
      // The host is too busy to see any but the first lines before the exit.
      while (messages.length === 0 && isAlive(transport.pid!));
      take?.(message)
    }
    transport.stderr?.resume()
    await closed
    if (withHelper !== '') killAtEnd(Number(stderr[0]))
    expect(ids(messages)).toEqual(numbers(3000))
    expect(transport.explain(undefined, '').message).toContain('exited with code 3')
  })

  it('do not keep the exit from being noticed when a helper goes on with them', async () => {
    const { closed, transport, stderr } = await run(
      `const helper = require('child_process').spawn('yes', ['blah'], { stdio: ['ignore', 'inherit', 'inherit'] });
       console.error(helper.pid); helper.unref(); process.exitCode = 3; process.stdin.unref?.()`,
    )
    await closed
    const helper = Number(stderr[0])
    killAtEnd(helper)
    expect(transport.explain(undefined, '').message).toContain('exited with code 3')
    await transport.close()
    expect(isAlive(helper)).toBe(false)
  })

  it('with one over the limit among them end there', async () => {
    const watched = await run(
      `${STAY} const line = (id) => JSON.stringify({ jsonrpc: '2.0', id, result: {} }) + '\\n'; let all = '';
       for (let id = 0; id < 200; id++) all += line(id); all += 'x'.repeat(2000) + '\\n';
       for (let id = 200; id < 400; id++) all += line(id); process.stdout.write(all)`,
      { maxMessageBytes: 1024 },
    )
    await watched.closed
    await turns(20)
    expect(ids(watched.messages)).toEqual(numbers(200))
    expect(watched.transport.explain(undefined, '').message).toContain('(maxMessageBytes)')
  })

  it('do not keep the connection from being closed', async () => {
    const { transport, messages } = await run(`${flood(PING)} flood()`)
    await eventually(() => expect(messages.length).toBeGreaterThan(1000))
    const pid = transport.pid!
    const ending = transport.close()
    const { length } = messages
    await ending
    expect(messages).toHaveLength(length)
    expect(isAlive(pid)).toBe(false)
  })
})

describe('requests of a server', () => {
  it('that does not read the answers end the connection, and until then their number is bounded', async () => {
    const watched = await run(`${flood(PING)} flood()`)
    answerPings(watched)
    await watched.closed
    expect(watched.messages.length).toBeLessThan(50_000)
    expect(watched.transport.explain(undefined, '').message).toBe(
      'the server does not read the answers to its own requests',
    )
  })

  it('that does not read the answers do not keep the connection from being closed', async () => {
    const watched = await run(`${flood(PING)} flood()`)
    answerPings(watched)
    let before = -1
    // Until it is not read any more.
    await eventually(() => {
      const { length } = watched.messages
      const isHeld = length > 1000 && length === before
      before = length
      expect(isHeld).toBe(true)
    })
    await watched.transport.close()
    expect(isAlive(watched.transport.pid!)).toBe(false)
    expect(watched.transport.explain(undefined, '').message).toBe('the connection closed')
  })

  it('are all answered, however many, when it reads the answers', async () => {
    const count = 50_000
    const watched = await run(
      `let answers = 0; process.stdin.on('data', (chunk) => {
         for (const byte of chunk) if (byte === 10) answers++;
         if (answers === ${count}) say('all');
       }).on('end', () => process.exit(0));
       let asked = 0; const ask = () => { process.stdout.write('${PING}\\n'.repeat(1000)); asked += 1000; if (asked < ${count}) setImmediate(ask) };
       ask()`,
    )
    answerPings(watched)
    await eventually(() => expect(watched.messages.at(-1)).toMatchObject({ id: 'all' }))
    expect(watched.messages).toHaveLength(count + 1)
    expect(watched.closes).toBe(0)
  })
})

/** A legacy server with one tool. It runs a piece of code before it answers a call of it. */
const serverThat = (code: string) => `
  const answer = (id, body) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...body }) + '\\n');
  require('readline').createInterface({ input: process.stdin }).on('line', (text) => {
    const { id, method, params } = JSON.parse(text);
    const serverInfo = { name: 'flood', version: '1' };
    const tools = [{ name: 'start', inputSchema: { type: 'object' } }];
    if (method === 'initialize')
      answer(id, { result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo } });
    else if (method === 'tools/list') answer(id, { result: { tools } });
    else if (method === 'tools/call') { ${code}; answer(id, { result: { content: [{ type: 'text', text: 'done' }] } }) }
    else if (id !== undefined) answer(id, { error: { code: -32601, message: 'Method not found' } });
  });`

describe.each(Object.entries(FLOODS))('a server that floods its output with %s', (_, line) => {
  it('leaves the others their turn and the log readable', async () => {
    const on = await host()
    await mount(on, fixtureConfig('legacy', {}, { serverName: 'two' }))
    await mount(on, scriptConfig(serverThat(`${flood(line)} flood()`)))
    expect(await on.call('mcp__one__start')).toMatchObject({ isError: false })
    for (let call = 0; call < 20; call++) {
      const result = await on.call('mcp__two__echo', { message: `call ${call}` })
      expect(JSON.stringify(result)).toContain(`call ${call}`)
    }
    expect(on.statuses.latest('one')?.status).toBe('connected')
    expect(on.logs.find({ name: 'mcp-client' }).length).toBeLessThan(250)
  })
})

it.each(['"result":{"a":<deep>}', '"error":{"code":1,"message":"deep","data":<deep>}'])(
  'an answer to nothing that is nested very deep leaves the host and the connection alone: %s',
  async (body) => {
    const on = await host()
    const [before, after] = `{"jsonrpc":"2.0","id":999,${body}}`.split('<deep>')
    const deep = `'['.repeat(100000) + ']'.repeat(100000)`
    await mount(
      on,
      scriptConfig(serverThat(`process.stdout.write('${before}' + ${deep} + '${after}' + '\\n')`)),
    )
    // An exception that nobody catches fails the whole run.
    expect(await on.call('mcp__one__start')).toMatchObject({ isError: false })
    expect(on.statuses.latest('one')?.status).toBe('connected')
  },
)
