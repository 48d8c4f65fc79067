/** What a local server lists: too much, too often, without an end, or what hides something. */

import { setTimeout as delay } from 'node:timers/promises'
import { publicToolName } from '@deepseek-ai/dsh-mcp-client'
import { visibleText } from '@deepseek-ai/dsh-mcp-text'
import { fixtureCommand } from '@dsh-mcp/fixtures'
import { stdio } from './stdio.ts'
import type { Fault } from './types.ts'

/** The tools that every program of the zoo offers. */
const ZOO_TOOLS = 3

const STANDS = /the changed tools were not taken over, the previous ones stand: /u

/** What a process lists. */
export const listFaults: readonly Fault[] = [
  stdio(
    'changing-list',
    'lists another tool each time and announces a change each time',
    'call',
    {
      ends: 'connected',
      answer: /^hello$/u,
      tools: ZOO_TOOLS + 1,
    },
    {
      check: async (host) => {
        await delay(1000)
        const listings = Number(/__tool_(\d+)/u.exec(host.toolNames().join(' '))?.[1])
        return listings < 20 ? [] : [`it was listed ${listings} times in about a second`]
      },
    },
  ),
  stdio('list-storm', 'announces 10,000 changes at once', 'call', {
    ends: 'connected',
    // Two, unless the machine is so busy that the burst has a pause in it.
    answer: /^\d listings$/u,
  }),
  stdio(
    'duplicate-tools',
    'names a tool twice',
    'start',
    {
      ends: 'failed',
      error: /the server lists the tool "echo" twice, so its list is invalid/u,
    },
    { config: fixtureCommand('duplicate-tools') },
  ),
  stdio('breaks-list', 'names a tool twice from now on', 'call', {
    ends: 'connected',
    answer: /^done$/u,
    log: new RegExp(`${STANDS.source}the server lists the tool "strike" twice`, 'u'),
  }),
  stdio('endless-pages', 'never ends its list', 'start', { ends: 'failed', error: /1000/u }),
  stdio('repeating-pages', 'lists the same page again and again', 'start', {
    ends: 'connected',
    tools: ZOO_TOOLS,
  }),
  stdio('slow-pages', 'never ends its list, and takes its time for each page', 'call', {
    ends: 'connected',
    answer: /^done$/u,
  }),
  stdio('many-tools', 'lists 5,000 tools', 'start', { ends: 'connected', tools: 5000 }),
  stdio(
    'hostile-names',
    'has names that are huge, hidden, or mean something else',
    'start',
    {
      ends: 'connected',
      tools: ZOO_TOOLS + 15,
    },
    {
      check: (host) =>
        host
          .toolNames()
          .flatMap((name) => (/^[A-Za-z0-9_-]{1,64}$/u.test(name) ? [] : [`a tool is called ${name}`])),
    },
  ),
  stdio(
    'hostile-descriptions',
    'describes tools with 5 MB, and with what hides or imitates',
    'start',
    {
      ends: 'connected',
      tools: ZOO_TOOLS + 5,
    },
    {
      check: (host) => {
        const shown = host.schemas().map(({ description }) => description)
        const hidden = shown.filter((text) => visibleText(text) !== text)
        const long = shown.filter((text) => text.length > 20_000)
        return [
          ...hidden.map(() => 'a description hides characters'),
          ...long.map((text) => `a description has ${text.length} characters`),
        ]
      },
    },
  ),
  stdio(
    'hostile-schemas',
    'has schemas that are nested 1,000 deep, recursive, poisoned',
    'start',
    {
      ends: 'connected',
      tools: ZOO_TOOLS + 6,
      log: /"deep" is nested more than 256 levels deep/u,
    },
    {
      check: (host) => {
        const poisoned = host.schemas().find(({ name }) => name === publicToolName('zoo', 'poisoned'))
        const parameters = poisoned?.parameters as
          { polluted?: unknown; properties?: { type?: unknown } } | undefined
        const touched = [
          parameters?.polluted,
          parameters?.properties?.type,
          ({} as { polluted?: unknown }).polluted,
        ]
        return touched.every((value) => value === undefined)
          ? []
          : ['__proto__ of the schema became a prototype']
      },
    },
  ),
  stdio('long-instructions', 'sends instructions over the limit', 'start', {
    ends: 'failed',
    error: /instructions take \d+ bytes, attribution included, and maxInstructionBytes admits 32768/u,
  }),
  stdio(
    'new-instructions',
    'sends other instructions after a crash',
    'call',
    {
      ends: 'connected',
      isLost: true,
      error: /exited with code 1/u,
      refusal: /exited with code 1/u,
    },
    {
      check: async (host) => {
        const { text } = await host.prompt()
        const said = text.match(/Process \d+ says \{\{hello\}\}\./gu) ?? []
        return said.length === 1 ? [] : [`the prompt has ${said.length} instructions`]
      },
    },
  ),
]
