/** What a server behind HTTP, or a proxy before it, does with answers and event streams. */

import { eventually } from '@dsh-mcp/host'
import { answer, http, LEGACY, MODERN, once, onNextCall, type Site } from './http.ts'
import { IMPATIENT, TIMED_OUT } from './stdio.ts'
import type { Expectation, Fault } from './types.ts'

const JSON_BODY = { 'content-type': 'application/json' }
const EVENTS = { 'content-type': 'text/event-stream' }

const OVERSIZED: Expectation = {
  ends: 'connected',
  isLost: true,
  error: /a message of more than 1000000 bytes \(maxMessageBytes\)/u,
  refusal: /a message of more than 1000000 bytes \(maxMessageBytes\)/u,
}
const ONE_MEGABYTE = { maxMessageBytes: 1_000_000 }

/** The list after a change that the client has to notice. */
const CHANGED = [{ name: 'echo', inputSchema: { type: 'object' } }]
const NOTICED: Expectation = { ends: 'connected', tools: CHANGED.length }

async function streamOpened({ fixture }: Site): Promise<void> {
  await eventually(() => {
    if (fixture.openStreams === 0) throw new Error('there is no event stream yet')
  })
}

/** Faults of bodies and streams. */
export const bodyFaults: readonly Fault[] = [
  http(
    'slow-body',
    'sends its answer byte by byte and never ends it',
    'call',
    { ends: 'connected', refusal: TIMED_OUT },
    LEGACY,
    onNextCall(({ response }) => {
      response.writeHead(200, JSON_BODY)
      const timer = setInterval(() => response.write(' '), 20)
      response.on('close', () => clearInterval(timer))
      return true
    }, IMPATIENT),
  ),
  http(
    'no-answer',
    'takes a call behind HTTP and never answers',
    'call',
    { ends: 'connected', refusal: TIMED_OUT },
    LEGACY,
    onNextCall(() => true, IMPATIENT),
  ),
  http(
    'half-answer',
    'ends its answer in the middle',
    'call',
    {
      ends: 'connected',
      refusal: /ended its answer before it was complete\. Whether the call took effect is unknown/u,
    },
    LEGACY,
    onNextCall(({ response }) => answer(response, 200, 'event: message\ndata: {"jsonrpc":"2.0"', EVENTS)),
  ),
  http(
    'accepted-202',
    'takes a call and says that no answer will come',
    'call',
    { ends: 'connected', refusal: /took the request and did not answer it/u },
    LEGACY,
    onNextCall(({ response }) => answer(response, 202, '')),
  ),
  http(
    'invalid-json',
    'answers a call with what is not JSON',
    'call',
    { ends: 'connected', refusal: /answered with invalid JSON/u },
    MODERN,
    onNextCall(({ response }) => answer(response, 200, '{"jsonrpc":', JSON_BODY)),
  ),
  http(
    'oversized-json',
    'answers a call with a body over the limit',
    'call',
    OVERSIZED,
    LEGACY,
    onNextCall(({ response }) => answer(response, 200, 'x'.repeat(1_000_001), JSON_BODY), ONE_MEGABYTE),
  ),
  http(
    'oversized-event',
    'answers a call with an event over the limit',
    'call',
    OVERSIZED,
    MODERN,
    onNextCall(
      ({ response }) => answer(response, 200, `data: ${'x'.repeat(1_000_001)}`, EVENTS),
      ONE_MEGABYTE,
    ),
  ),
  http(
    'drops-stream',
    'drops its event stream, and changes its tools meanwhile',
    'arm',
    NOTICED,
    LEGACY,
    (site) => ({
      arm: async () => {
        await streamOpened(site)
        site.fixture.dropStreams()
        site.fixture.toolbox.configure({ tools: CHANGED })
      },
    }),
  ),
  http(
    'refuses-stream',
    'cuts the first try to open its event stream, and changes its tools later',
    'arm',
    NOTICED,
    LEGACY,
    (site) => {
      site.gateway.fault = once(({ request, socket }) => {
        if (request.method === 'GET') socket.destroy()
        return request.method === 'GET'
      })
      return {
        arm: async () => {
          await streamOpened(site)
          site.fixture.toolbox.replaceTools(CHANGED)
        },
      }
    },
  ),
  http(
    'ends-subscription',
    'ends its subscription, and changes its tools meanwhile',
    'arm',
    NOTICED,
    MODERN,
    ({ fixture }) => ({
      arm: async () => {
        await fixture.closeSessions()
        fixture.toolbox.configure({ tools: CHANGED })
      },
    }),
  ),
  http(
    'delete-hangs',
    'never answers the end of a session',
    'call',
    { ends: 'connected', answer: /^hello$/u },
    LEGACY,
    ({ gateway }) => ({
      arm: () => {
        gateway.fault = ({ request }) => request.method === 'DELETE'
      },
    }),
  ),
]
