/** A server that forgets sessions: what it refused is sent again, once, on a new one. */

import { answer, http, LEGACY } from './http.ts'
import { forgetful, SESSION_REFUSALS } from './session-refusals.ts'
import type { Fault } from './types.ts'

const forgotten = Object.entries(SESSION_REFUSALS).map(([variant, refuse]) =>
  http(
    `forgets-session-${variant}`,
    `forgot the session and says so with ${variant.replace('-', ' as ')}`,
    'call',
    { ends: 'connected', isLost: true, answer: /^hello$/u },
    LEGACY,
    ({ fixture, gateway }) => ({
      arm: () => {
        gateway.fault = forgetful(refuse)
      },
      check: () => {
        const calls = fixture.toolbox.calls.length
        return calls === 2 ? [] : [`${calls} calls were executed instead of 2`]
      },
    }),
  ),
)

/** Faults of sessions. */
export const sessionFaults: readonly Fault[] = [
  ...forgotten,
  http(
    'forgets-every-session',
    'forgets each session as soon as it is there',
    'call',
    {
      ends: 'failed',
      isLost: true,
      error: /the server no longer knows the session/u,
      refusal: /the server no longer knows the session/u,
    },
    LEGACY,
    ({ gateway }) => ({
      arm: () => {
        gateway.fault = ({ request, response, message }) =>
          request.headers['mcp-session-id'] !== undefined &&
          message.method !== 'notifications/initialized' &&
          answer(response, 404, 'Session not found')
      },
    }),
  ),
]
