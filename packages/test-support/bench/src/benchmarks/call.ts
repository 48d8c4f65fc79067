/**
 * One small tool call after the other, through the whole pipeline of the host.
 *
 * The reference is a tool that does nothing but pass its call on to the SDK's client: the SDK's call and the host's
 * own cost, in one, so that both sides wait for a server in between. (Measured apart, the host's part looks cheaper
 * than it can be, because nothing ever interrupts it.)
 */

import type { ContentBlock } from '@deepseek-ai/dsh-llm'
import { stdioFixture } from '@dsh-mcp/fixtures'
import type { TestHost } from '@dsh-mcp/host'
import type { Client } from '@modelcontextprotocol/client'
import type { Benchmark } from '../benchmark.ts'
import { connectSdk, startOurs, startUpstream } from '../contenders.ts'
import { ownSession } from '../own-session.ts'
import { compare, interleave, type Samples } from '../rounds.ts'

/** Calls in one measurement: few, so that the load is the same for all contenders of a round. */
const CALLS = 40

const ARGUMENTS = { message: 'hi' }

/** Register a tool that passes its calls on to a client, as plainly as it can be done. */
function registerPlain({ ctx }: TestHost, client: Client): void {
  ctx.tools.register({
    name: 'plain',
    description: 'Returns the message',
    parameters: { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] },
    output: {
      schema: {},
      render: (_args, value) => (value as unknown as { content: ContentBlock[] }).content,
    },
    execute: async (args, { signal }) => {
      const { content } = await client.callTool(
        { name: 'echo', arguments: args as typeof ARGUMENTS },
        { signal },
      )
      return { content }
    },
  })
}

/** A clock, in µs. */
type Clock = () => number

const wall: Clock = () => performance.now() * 1000

/** What the main thread of this process has worked so far. */
const cpu: Clock = () => {
  const { user, system } = process.threadCpuUsage()
  return user + system
}

/** The benchmark `call`. */
export const call: Benchmark = async ({ rounds = 60 }) => {
  await using ours = await startOurs()
  await using upstream = await startUpstream()
  const server = stdioFixture('legacy')
  const [own, published, sdk] = await Promise.all([
    ours.connect(server),
    upstream.connect(ownSession(server)),
    connectSdk(ownSession(server)),
  ])
  registerPlain(ours.host, sdk.client)

  async function perCall(clock: Clock, run: () => Promise<unknown>): Promise<number> {
    const before = clock()
    for (let count = 0; count < CALLS; count++) await run()
    return (clock() - before) / CALLS
  }
  async function measure(clock: Clock): Promise<Samples<'ours' | 'reference' | 'upstream'>> {
    const contenders = {
      ours: () => perCall(clock, () => own.call('echo', ARGUMENTS)),
      reference: () => perCall(clock, async () => ours.host.text(await ours.host.call('plain', ARGUMENTS))),
      upstream: () => perCall(clock, () => published.call('echo', ARGUMENTS)),
    }
    return await interleave(contenders, { rounds, warmup: 20 })
  }
  const measured = { 'call.time': compare(await measure(wall)), 'call.cpu': compare(await measure(cpu)) }
  await sdk.close()
  return measured
}
