/** What a local server does about its own life and its family's: ends, hangs, leaves helpers behind. */

import { fixtureCommand } from '@dsh-mcp/fixtures'
import { IMPATIENT, stdio, TIMED_OUT, zoo } from './stdio.ts'
import type { Fault } from './types.ts'

/** What a process does about its own life and its family's. */
export const lifeFaults: readonly Fault[] = [
  stdio(
    'exits-with-reason',
    'ends at its start and says why on standard error',
    'start',
    {
      ends: 'failed',
      error: /exited with code 1.*it wrote: Error: FIXTURE_TOKEN is not set/u,
      log: /its last output on standard error:\nstarting\nError: FIXTURE_TOKEN is not set/u,
    },
    { config: fixtureCommand('exits-at-once') },
  ),
  stdio('missing-module', 'needs a package that is not installed', 'start', {
    ends: 'failed',
    error: /Cannot find package 'the-package-that-nobody-installed'/u,
  }),
  stdio(
    'command-not-found',
    'is a command that does not exist',
    'start',
    {
      ends: 'failed',
      error:
        /the command "no-such-mcp-server" was not found \(searched PATH: .*\); install it, or give its full path/u,
    },
    { config: { command: 'no-such-mcp-server', args: [] } },
  ),
  stdio(
    'folder-not-found',
    'has a working directory that does not exist',
    'start',
    {
      ends: 'failed',
      error: /the working directory ".*no-such-folder" \(cwd\) is not a folder/u,
    },
    { config: { ...zoo('well-behaved'), cwd: '/no-such-folder' } },
  ),
  stdio(
    'prints-secrets',
    'prints its token before it ends',
    'start',
    {
      ends: 'failed',
      error: /Error: the token \[redacted env\.ZOO_TOKEN\] was refused/u,
      log: /using token \[redacted env\.ZOO_TOKEN\]/u,
    },
    () => {
      const secret = 'zoo-s3cret-value'
      return {
        config: { env: { ZOO_TOKEN: secret } },
        check: (host) => {
          const said = host.logText() + JSON.stringify(host.statuses.all())
          return said.includes(secret) ? ['the token is in the log or in a status'] : []
        },
      }
    },
  ),
  stdio(
    'never-answers',
    'reads everything and answers nothing',
    'start',
    { ends: 'connecting' },
    {
      config: fixtureCommand('never-answers'),
    },
  ),
  stdio('crash-after-connect', 'ends each time that it has listed its tools', 'start', {
    ends: 'failed',
    error: /exited with code 3.*the licence has expired/u,
  }),
  stdio('crash-in-call', 'ends with an error in the middle of a call', 'call', {
    ends: 'connected',
    isLost: true,
    error: /exited with code 1.*Error: the zoo strikes/u,
    refusal: /exited with code 1.*the zoo strikes.*Whether the call took effect is unknown/u,
  }),
  stdio('silent-exit', 'ends in the middle of a call with code 0 and no word', 'call', {
    ends: 'connected',
    isLost: true,
    error: /exited with code 0/u,
    refusal: /exited with code 0\. Whether the call took effect is unknown/u,
  }),
  stdio('killed', 'is killed in the middle of a call', 'call', {
    ends: 'connected',
    isLost: true,
    error: /ended by SIGKILL/u,
    refusal: /ended by SIGKILL/u,
  }),
  stdio('ignores-sigterm', 'ignores the end of its input and every polite signal', 'call', {
    ends: 'connected',
    answer: /^hello$/u,
  }),
  stdio('ignores-stdin-end', 'ignores the end of its input', 'call', {
    ends: 'connected',
    answer: /^hello$/u,
  }),
  stdio('helper-holds-pipes', 'crashes and leaves a helper behind that holds its pipes', 'call', {
    ends: 'connected',
    isLost: true,
    error: /exited with code 1/u,
    refusal: /exited with code 1/u,
  }),
  stdio('helper-in-own-session', 'crashes and leaves a helper behind in a session of its own', 'call', {
    ends: 'connected',
    isLost: true,
    error: /exited with code 1/u,
    refusal: /exited with code 1/u,
  }),
  stdio('helper-comes-back', 'has a helper that starts another when it is told to end', 'call', {
    ends: 'connected',
    isLost: true,
    error: /exited with code 1/u,
    refusal: /exited with code 1/u,
  }),
  stdio('helper-forks-on', 'has a helper that starts another and ends, all the time', 'call', {
    ends: 'connected',
    isLost: true,
    error: /exited with code 1/u,
    refusal: /exited with code 1/u,
  }),
  stdio(
    'shell-background',
    'is sh -c "helper & server"',
    'call',
    { ends: 'connected', answer: /^hello$/u },
    () => {
      const { command, args } = fixtureCommand('zoo/well-behaved')
      return { config: { command: 'sh', args: ['-c', 'sleep 600 & "$0" "$@"', command, ...args] } }
    },
  ),
  stdio(
    'wrapper',
    'is started by a wrapper of a wrapper, and crashes',
    'call',
    {
      ends: 'connected',
      isLost: true,
      error: /exited with code 1.*the zoo strikes/u,
      refusal: /exited with code 1.*the zoo strikes/u,
    },
    { config: zoo('wrapper', '1', 'crash-in-call') },
  ),
  stdio(
    'stubborn-wrapper',
    'is started by a wrapper of a wrapper, and ignores every polite signal',
    'call',
    {
      ends: 'connected',
      answer: /^hello$/u,
    },
    { config: zoo('wrapper', '1', 'ignores-sigterm') },
  ),
  stdio(
    'freezes',
    'is stopped in the middle of a call',
    'call',
    { ends: 'connected', refusal: TIMED_OUT, staysBroken: true },
    {
      config: IMPATIENT,
    },
  ),
  stdio(
    'stops-reading',
    'reads nothing any more',
    'call',
    { ends: 'connected', refusal: TIMED_OUT, staysBroken: true },
    {
      config: IMPATIENT,
    },
  ),
  stdio(
    'closes-stdin',
    'closes its input and lives on',
    'call',
    {
      ends: 'connected',
      isLost: true,
      error: /closed its standard input and did not exit/u,
      refusal: TIMED_OUT,
    },
    { config: IMPATIENT },
  ),
  stdio('closes-stdout', 'closes its output and lives on', 'call', {
    ends: 'connected',
    isLost: true,
    error: /closed its standard output and did not exit/u,
    refusal: /closed its standard output and did not exit\. Whether the call took effect is unknown/u,
  }),
]
