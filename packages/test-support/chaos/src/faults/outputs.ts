/** What a local server writes, and how it answers. */

import { IMPATIENT, stdio, TIMED_OUT } from './stdio.ts'
import type { Fault } from './types.ts'

const NOISE =
  /wrote to standard output what is not protocol, and it was skipped: .*its author should write logs to standard error/u

/** What a process writes and answers. */
export const outputFaults: readonly Fault[] = [
  stdio('prints-banner', 'greets on standard output', 'call', {
    ends: 'connected',
    answer: /^done$/u,
    log: NOISE,
  }),
  stdio('prints-json-logs', 'logs in JSON on standard output', 'call', {
    ends: 'connected',
    answer: /^done$/u,
    log: NOISE,
  }),
  stdio('prints-garbage', 'writes random bytes to standard output', 'call', {
    ends: 'connected',
    answer: /^done$/u,
    log: NOISE,
  }),
  stdio('half-line', 'answers with half of a line', 'call', {
    ends: 'connected',
    refusal: /failed: the server's answer is not JSON-RPC: Unterminated string/u,
  }),
  stdio('invalid-utf8', 'answers with text that is not UTF-8', 'call', {
    ends: 'connected',
    answer: /^a\uFFFD\(\uFFFDb$/u,
  }),
  stdio(
    'oversized-frame',
    'answers with a line that never ends',
    'call',
    {
      ends: 'connected',
      isLost: true,
      error: /a message of more than 1000000 bytes \(maxMessageBytes\)/u,
      refusal: /a message of more than 1000000 bytes \(maxMessageBytes\)/u,
    },
    { config: { maxMessageBytes: 1_000_000 } },
  ),
  stdio('large-frame', 'answers with 30 MB, which is fine', 'call', {
    ends: 'connected',
    answer: /^x{100}… \(30000000 characters\)$/u,
  }),
  stdio(
    'floods-stderr',
    'writes 200,000 lines to standard error in a call',
    'call',
    {
      ends: 'connected',
      answer: /^done$/u,
    },
    {
      check: (host) => {
        const lines = host.logs.find({ text: 'of the flood' }).length
        return lines > 1000 ? [`${lines} of its lines went to the log`] : []
      },
    },
  ),
  stdio(
    'never-answers-calls',
    'does not answer a call',
    'call',
    { ends: 'connected', refusal: TIMED_OUT },
    { config: IMPATIENT },
  ),
  stdio(
    'answers-late',
    'answers a call when nobody waits any more',
    'call',
    {
      ends: 'connected',
      refusal: TIMED_OUT,
    },
    { config: IMPATIENT },
  ),
  stdio('answers-twice', 'answers a call three times, and calls that nobody made', 'call', {
    ends: 'connected',
    answer: /^first$/u,
  }),
  stdio('wrong-json-rpc', 'sends what looks like JSON-RPC and is not', 'call', {
    ends: 'connected',
    answer: /^done$/u,
    log: NOISE,
  }),
  stdio('wrong-result', 'answers a call with a result of the wrong shape', 'call', {
    ends: 'connected',
    refusal:
      /Invalid result for tools\/call: content: Invalid input: expected array, received string; isError: .*expected boolean/u,
  }),
]
