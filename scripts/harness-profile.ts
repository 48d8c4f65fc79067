/**
 * `pnpm harness-profile`: the packages inside the published harness, for real. Not part of `npm test`: it installs
 * several hundred packages.
 *
 *     node scripts/harness-profile.ts [--dsh VERSION] [--keep FOLDER]
 *
 * Installs `@deepseek-ai/dsh` into an empty folder, gives its headless profile two MCP entries, and runs one task
 * three times against a scripted model on loopback: with the client that the harness ships, with ours installed
 * into the profile as a user would do it (from packed tarballs), and after ours was removed again. Prints what the
 * servers and the model saw, and exits 1 when a run did not go through or the switch did not take place.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import {
  readJournal,
  startedPids,
  startHttpFixture,
  stdioFixture,
  type HttpFixture,
} from '../packages/test-support/fixtures/src/index.ts'
import { isAlive } from '../packages/test-support/host/src/leaks.ts'
import { pnpm, publishedPackages, readManifest, root } from './workspace.ts'

const { values: options } = parseArgs({
  options: { dsh: { type: 'string', default: '0.1.0-rc.8' }, keep: { type: 'string' } },
})

/** The Cordis releases of the harness' own time: it does not start on later ones. */
const CORDIS_PINS = {
  '@deepseek-ai/cordis': '4.0.1',
  '@deepseek-ai/cordis-plugin-hmr': '1.0.16',
  '@deepseek-ai/cordis-plugin-include': '1.0.6',
  '@deepseek-ai/cordis-plugin-loader': '1.0.2',
}
/** Longest time that one run of the harness may take, in ms. */
const RUN_BOUND_MS = 180_000
const CLIENT = '@deepseek-ai/dsh-mcp-client'
const RESOURCES = '@deepseek-ai/dsh-mcp-resources'
const TASK = 'ask both servers'
const INSTRUCTIONS = 'Feed the animals {{gently}}.'

/** What a model request says, as far as it is looked at. */
interface ModelRequest {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[]
  readonly tools?: readonly { readonly function: { readonly name: string } }[]
}

/** What one run of the harness showed. */
interface Run {
  readonly name: string
  readonly exitCode: number | null
  readonly seconds: number
  readonly answer: string
  readonly stderr: string
  /** The client as the servers saw it: name and version. */
  readonly clients: readonly string[]
  readonly protocols: readonly string[]
  readonly mcpTools: readonly string[]
  readonly resourceTools: readonly string[]
  readonly hasInstructions: boolean
  readonly leftProcesses: number
}

const folder =
  options.keep === undefined ? mkdtempSync(join(tmpdir(), 'dsh-mcp-harness-')) : resolve(options.keep)
const home = join(folder, 'home')
const profile = join(home, 'profiles', 'headless')
const journal = join(folder, 'journal.jsonl')
const requests: ModelRequest[] = []

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

/** A model that calls one tool of each server, and then answers with what they returned. */
const model = createServer((request, response) => {
  void text(request).then((body) => {
    const asked = JSON.parse(body) as ModelRequest
    requests.push(asked)
    const results = asked.messages.filter(({ role }) => role === 'tool').map(({ content }) => String(content))
    const isConversation = asked.tools !== undefined && JSON.stringify(asked.messages).includes(TASK)
    const calls = [
      { name: 'mcp__zoo__echo', arguments: '{"message":"hello zoo"}' },
      { name: 'mcp__web__add', arguments: '{"a":40,"b":2}' },
    ]
    const isCalling = isConversation && results.length === 0
    const delta = isCalling
      ? {
          tool_calls: calls.map((call, index) => ({
            index,
            id: `call-${index}`,
            type: 'function',
            function: call,
          })),
        }
      : { content: isConversation ? `They said: ${results.join(' and ')}` : 'A title' }
    const chunk = (data: object) => `data: ${JSON.stringify({ id: '1', model: 'scripted', ...data })}\n\n`
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(
      chunk({ choices: [{ index: 0, delta: { role: 'assistant', ...delta }, finish_reason: null }] }),
    )
    response.write(
      chunk({ choices: [{ index: 0, delta: {}, finish_reason: isCalling ? 'tool_calls' : 'stop' }] }),
    )
    response.write(chunk({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } }))
    response.end('data: [DONE]\n\n')
  })
})

/** Run the harness' command; its stdin is empty. */
async function dsh(...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const program = join(folder, 'dsh', 'node_modules', '@deepseek-ai', 'dsh', 'lib', 'bin.js')
  const child = spawn(process.execPath, [program, ...args], {
    cwd: join(folder, 'work'),
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: RUN_BOUND_MS,
    env: {
      ...process.env,
      PATH: [join(folder, 'bin'), dirname(process.execPath), process.env['PATH']].join(delimiter),
      DSH_HOME: home,
      DSH_TELEMETRY_DISABLED: '1',
      DEEPSEEK_BASE_URL: `http://127.0.0.1:${(model.address() as AddressInfo).port}`,
      DEEPSEEK_API_KEY: 'scripted',
    },
  })
  const [stdout, stderr, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((settle) => child.once('close', settle)),
  ])
  return { code, stdout: stdout.trim(), stderr: stderr.trim() }
}

/** `dsh plugin`, which hands its arguments to pnpm. */
async function plugin(...args: string[]): Promise<void> {
  const { code, stdout, stderr } = await dsh('plugin', '--profile', 'headless', ...args)
  if (code !== 0) throw new Error(`dsh plugin ${args.join(' ')} failed\n${stdout}\n${stderr}`)
}

/** Pack what would be published; tarballs by package name. */
function pack(): Map<string, string> {
  pnpm(['build'], root)
  const tarballs = join(folder, 'tarballs')
  pnpm(['--filter', './packages/mcp/*', 'pack', '--pack-destination', tarballs], root)
  return new Map(
    publishedPackages().map(({ manifest: { name, version } }) => [
      name,
      `file:${join(tarballs, `${name.replace('@', '').replace('/', '-')}-${version}.tgz`)}`,
    ]),
  )
}

/** Install the harness itself, and a `pnpm` for its plugin command. */
function installHarness(): void {
  const target = join(folder, 'dsh')
  mkdirSync(target, { recursive: true })
  const dependencies = { '@deepseek-ai/dsh': options.dsh }
  writeFileSync(join(target, 'package.json'), JSON.stringify({ private: true, dependencies }))
  // Nothing that a headless run needs has to be built.
  const settings = { packages: ['.'], overrides: CORDIS_PINS, strictDepBuilds: false }
  writeFileSync(join(target, 'pnpm-workspace.yaml'), JSON.stringify(settings))
  pnpm(['install', '--prefer-offline'], target)
  mkdirSync(join(folder, 'bin'), { recursive: true })
  const pinned = readManifest(root).packageManager
  writeFileSync(join(folder, 'bin', 'pnpm'), `#!/bin/sh\nexec npx --yes ${pinned} "$@"\n`, { mode: 0o755 })
}

/** What the servers saw of the client since `before`: who it is, and which protocol it speaks. */
function seen(web: HttpFixture, before: { journal: number; requests: number }) {
  const clients = new Set<string>()
  const protocols = new Set<string>()
  const bodies = [
    ...readJournal(journal)
      .slice(before.journal)
      .flatMap((entry) => (entry.event === 'message' ? [entry.message] : [])),
    ...web.requests.slice(before.requests).map(({ body }) => body),
  ]
  for (const body of bodies) {
    const { params = {} } = (body ?? {}) as { params?: Record<string, unknown> }
    const meta = (params['_meta'] ?? {}) as Record<string, unknown>
    const client = (params['clientInfo'] ?? meta['io.modelcontextprotocol/clientInfo']) as
      { name: string; version: string } | undefined
    if (client !== undefined) clients.add(`${client.name} ${client.version}`)
    const protocol = params['protocolVersion'] ?? meta['io.modelcontextprotocol/protocolVersion']
    if (typeof protocol === 'string') protocols.add(protocol)
  }
  return { clients: [...clients], protocols: [...protocols] }
}

/** Run the task once and look at it from outside. */
async function runTask(name: string, web: HttpFixture): Promise<Run> {
  const before = {
    journal: readJournal(journal).length,
    requests: web.requests.length,
    model: requests.length,
  }
  const started = performance.now()
  const { code, stdout, stderr } = await dsh('--profile', 'headless', TASK)
  const seconds = (performance.now() - started) / 1000
  const first = requests.slice(before.model).find(({ tools }) => tools !== undefined)
  const names = first?.tools?.map((tool) => tool.function.name) ?? []
  return {
    name,
    exitCode: code,
    seconds,
    answer: stdout,
    stderr,
    ...seen(web, before),
    mcpTools: names.filter((tool) => tool.startsWith('mcp__')),
    resourceTools: names.filter((tool) => tool.includes('mcp_resource')),
    hasInstructions: JSON.stringify(first?.messages ?? []).includes(INSTRUCTIONS),
    leftProcesses: startedPids(journal).filter(isAlive).length,
  }
}

function report(runs: readonly Run[]): void {
  const rows: readonly (readonly [string, (run: Run) => unknown])[] = [
    ['exit code', ({ exitCode }) => exitCode],
    ['client, as the servers saw it', ({ clients }) => clients.join(', ')],
    ['protocol', ({ protocols }) => protocols.join(', ')],
    ['MCP tools in the request', ({ mcpTools }) => mcpTools.length],
    ['resource tools in the request', ({ resourceTools }) => resourceTools.length],
    ['instructions in the prompt', ({ hasInstructions }) => (hasInstructions ? 'yes' : 'no')],
    ['answer', ({ answer }) => answer],
    ['server processes left', ({ leftProcesses }) => leftProcesses],
    ['seconds', ({ seconds }) => seconds.toFixed(1)],
  ]
  for (const run of runs) {
    say(`\n${run.name}`)
    for (const [label, value] of rows) say(`  ${label.padEnd(30)}${String(value(run))}`)
    if (run.stderr !== '') say(run.stderr.replaceAll(/^/gm, '  stderr: '))
  }
}

/** What is not as it has to be. */
function problemsOf([shipped, ours, back]: readonly [Run, Run, Run]): string[] {
  const expectations: readonly (readonly [string, boolean])[] = [
    ...[shipped, ours, back].flatMap((run): (readonly [string, boolean])[] => [
      [
        `${run.name}: the task did not go through`,
        run.exitCode === 0 && /hello zoo and .*42/.test(run.answer),
      ],
      [`${run.name}: a server process is left`, run.leftProcesses === 0],
    ]),
    ['ours did not take the place of the shipped client', ours.clients.join() !== shipped.clients.join()],
    ['the shipped client did not come back', back.clients.join() === shipped.clients.join()],
    ['the tools have other names', ours.mcpTools.join() === shipped.mcpTools.join()],
    ['the resource service is not mounted by its bundle', ours.resourceTools.length === 3],
    ['the instructions are not in the prompt', ours.hasInstructions],
  ]
  return expectations.flatMap(([problem, holds]) => (holds ? [] : [problem]))
}

model.listen(0, '127.0.0.1')
await using web = await startHttpFixture({ era: 'dual' })
try {
  mkdirSync(join(folder, 'work'), { recursive: true })
  say('Packing our packages')
  const tarballs = pack()
  say(`Installing @deepseek-ai/dsh ${options.dsh} into ${folder}`)
  installHarness()
  await plugin('list')
  const zoo = {
    serverName: 'zoo',
    transport: 'stdio',
    ...stdioFixture('dual', { journal, instructions: INSTRUCTIONS }),
  }
  const entries = [
    { id: 'mcp-zoo', name: CLIENT, config: zoo },
    {
      id: 'mcp-web',
      name: CLIENT,
      config: { serverName: 'web', transport: 'streamable-http', url: web.url },
    },
  ]
  // JSON is YAML.
  writeFileSync(join(profile, 'cordis.patch.yml'), JSON.stringify([{ insert: entries }], undefined, 2))
  // Until it is on the registry, what ours depends on has to come from its tarball as well.
  const overrides = { '@deepseek-ai/dsh-mcp-text': tarballs.get('@deepseek-ai/dsh-mcp-text') }
  const settingsFile = join(profile, 'pnpm-workspace.yaml')
  writeFileSync(
    settingsFile,
    `${readFileSync(settingsFile, 'utf8')}\noverrides: ${JSON.stringify(overrides)}\n`,
  )

  const shipped = await runTask('With the client that the harness ships', web)
  await plugin('add', tarballs.get(CLIENT)!, tarballs.get(RESOURCES)!)
  const ours = await runTask('With ours, after: dsh plugin --profile headless add', web)
  await plugin('remove', CLIENT, RESOURCES)
  const back = await runTask('Back, after: dsh plugin --profile headless remove', web)

  report([shipped, ours, back])
  const problems = problemsOf([shipped, ours, back])
  for (const problem of problems) say(`\nproblem: ${problem}`)
  say(`\n${problems.length === 0 ? 'The switch works in both directions.' : `${problems.length} problems.`}`)
  process.exitCode = problems.length === 0 ? 0 : 1
} finally {
  model.close()
  model.closeAllConnections()
  if (options.keep === undefined) rmSync(folder, { recursive: true, force: true })
}
