/** One small tool call after the other, through the whole pipeline of the host. */

import { stdioFixture } from '@dsh-mcp/fixtures'
import type { TestHost } from '@dsh-mcp/host'
import type { Benchmark } from '../benchmark.ts'
import { connectSdk, startOurs, startUpstream } from '../contenders.ts'
import { compare, interleave, timed } from '../rounds.ts'

/** Calls in one measurement. */
const CALLS = 300

const ARGUMENTS = { message: 'hi' }

/** A tool that does nothing, registered like every other: what is left is the host's own cost. */
function registerNoop({ ctx }: TestHost): void {
  ctx.tools.register({
    name: 'noop',
    description: 'Does nothing',
    parameters: { type: 'object', properties: { message: { type: 'string' } } },
    output: { schema: {}, render: () => [{ type: 'text', text: 'hi' }] },
    execute: async () => ({ content: [{ type: 'text', text: 'hi' }] }),
  })
}

/** How long one call takes, in µs. */
async function timePerCall(call: () => Promise<unknown>): Promise<number> {
  const ms = await timed(async () => {
    for (let count = 0; count < CALLS; count++) await call()
  })
  return (ms * 1000) / CALLS
}

/** The benchmark `call`. */
export const call: Benchmark = async ({ rounds = 15 }) => {
  await using ours = await startOurs()
  await using upstream = await startUpstream()
  registerNoop(ours.host)
  const server = stdioFixture('legacy')
  const [own, published, sdk] = await Promise.all([
    ours.connect(server),
    upstream.connect(server),
    connectSdk(server),
  ])
  const samples = await interleave(
    {
      ours: () => timePerCall(() => own.call('echo', ARGUMENTS)),
      sdk: () => timePerCall(() => sdk.call('echo', ARGUMENTS)),
      noop: () => timePerCall(() => ours.host.call('noop', ARGUMENTS)),
      upstream: () => timePerCall(() => published.call('echo', ARGUMENTS)),
    },
    { rounds, warmup: 3 },
  )
  await sdk.close()
  const reference = samples.sdk.map((sdkTime, round) => sdkTime + samples.noop[round]!)
  return { 'call.time': compare({ ...samples, reference }) }
}
