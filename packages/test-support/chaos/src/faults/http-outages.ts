/** A server behind HTTP that is down, restarting, busy, or silent. */

import { answer, http, LEGACY, MODERN, once, onNextCall, type Site, type SiteParts } from './http.ts'
import type { Expectation, Fault } from './types.ts'

const NO_SIGN_OF_LIFE: Expectation = {
  ends: 'connected',
  isLost: true,
  error: /gave no sign of life for 1000 ms/u,
}

function goesSilent({ gateway }: Site): SiteParts {
  return {
    config: { livenessIntervalMs: 1000 },
    arm: () => gateway.freeze(),
    repair: () => gateway.thaw(),
  }
}

/** Faults of servers that are away for a while. */
export const outageFaults: readonly Fault[] = [
  http(
    'restart',
    'is restarted behind HTTP',
    'arm',
    { ends: 'connected', isLost: true },
    LEGACY,
    ({ fixture }) => ({ arm: () => fixture.restart() }),
  ),
  // Without sessions nothing is lost with it.
  http(
    'restart-modern',
    'is restarted behind HTTP (2026-07-28)',
    'arm',
    { ends: 'connected' },
    MODERN,
    ({ fixture }) => ({
      arm: () => fixture.restart(),
    }),
  ),
  http(
    'crash-behind-http',
    'crashes behind HTTP in the middle of a call',
    'call',
    {
      ends: 'connected',
      isLost: true,
      error: /nothing listens at/u,
      refusal: /closed the connection before it answered.*Whether the call took effect is unknown/u,
    },
    LEGACY,
    ({ fixture, gateway }) => ({
      arm: () => {
        gateway.fault = once(({ socket, message }) => {
          if (message.method !== 'tools/call') return false
          void fixture.stop()
          void gateway.stop()
          socket.destroy()
          return true
        })
      },
      repair: async () => {
        await fixture.restart()
        await gateway.restart()
      },
    }),
  ),
  http(
    'not-there',
    'is not there',
    'start',
    {
      ends: 'failed',
      error:
        /nothing listens at 127\.0\.0\.1:\d+ \(connection refused\); start the server, or correct "url"/u,
    },
    LEGACY,
    async ({ gateway }) => {
      await gateway.stop()
      return {}
    },
  ),
  http(
    'unavailable-503',
    'answers 503 with Retry-After',
    'call',
    {
      ends: 'connected',
      isLost: true,
      error: /is not available \(HTTP 503: busy\)/u,
      refusal: /is not available \(HTTP 503: busy\)/u,
    },
    LEGACY,
    onNextCall(({ response }) => answer(response, 503, 'busy', { 'retry-after': '1' })),
  ),
  http(
    'limits-429',
    'answers 429 with Retry-After',
    'call',
    {
      ends: 'connected',
      isLost: true,
      error: /limits the rate of requests \(HTTP 429\)/u,
      refusal: /limits the rate of requests \(HTTP 429\)/u,
    },
    MODERN,
    onNextCall(({ response }) => answer(response, 429, '', { 'retry-after': '0' })),
  ),
  http(
    'error-500',
    'answers a call with 500',
    'call',
    {
      ends: 'connected',
      refusal: /is not available \(HTTP 500: it broke\)\. Whether the call took effect is unknown/u,
    },
    LEGACY,
    onNextCall(({ response }) => answer(response, 500, 'it broke')),
  ),
  http('half-open', 'goes silent, and nobody says so', 'arm', NO_SIGN_OF_LIFE, LEGACY, goesSilent),
  http(
    'half-open-modern',
    'goes silent, and nobody says so (2026-07-28)',
    'arm',
    NO_SIGN_OF_LIFE,
    MODERN,
    goesSilent,
  ),
  http(
    'reset-in-call',
    'resets the connection in the middle of a call',
    'call',
    {
      ends: 'connected',
      refusal: /closed the connection before it answered\. Whether the call took effect is unknown/u,
    },
    LEGACY,
    onNextCall(({ socket }) => {
      socket.resetAndDestroy()
      return true
    }),
  ),
]
