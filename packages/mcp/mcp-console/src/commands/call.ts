/** `dsh-mcp call TOOL [ARGS]`: one call, shown as the model would read it. */
import type { Readable } from 'node:stream'
import { visibleLine } from '@deepseek-ai/dsh-mcp-text'
import type { ToolExecutionResult } from '@deepseek-ai/dsh-tools'
import { CommandError, type Outcome } from '../exit.ts'
import type { Output } from '../output.ts'
import { byteCount, renderContent } from '../render/content.ts'
import { didYouMean } from '../render/suggest.ts'
import { errorLine } from '../render/text.ts'
import { readArguments } from './arguments.ts'
import { prepareFolder, saveBinaries } from './save.ts'
import {
  inSession,
  printProblems,
  problemsBesideServers,
  requireServer,
  type Common,
  type Session,
} from './session.ts'
import { callTool, registry, requireModel, type ModelRoute } from './tool-call.ts'
import { serverOf } from './tools.ts'

/** Options of the command. */
export interface CallOptions extends Common {
  /** The registered name. */
  readonly tool: string
  /** The arguments as written; see {@link readArguments}. */
  readonly args: string | undefined
  readonly stdin: Readable
  /** Write images and other binary blocks to files in this folder. */
  readonly saveTo: string | undefined
  /** The model that reads the result; without one, no image is shown. */
  readonly reader: ModelRoute | undefined
}

/** Run the command. */
export async function call(options: CallOptions): Promise<Outcome> {
  const { tool, output } = options
  const args = await readArguments(options.args, options.stdin)
  if (options.saveTo !== undefined) await prepareFolder(options.saveTo)
  // The name says which server it takes; the others need not start.
  const isWanted = tool.startsWith('mcp__')
    ? (server: string) => serverOf(tool, [server]) !== null
    : undefined
  return await inSession(options, { isWanted }, async (session) => {
    await requireTool(session, tool)
    if (options.reader !== undefined) await requireModel(session, options.reader)
    const result = await callTool(session, {
      name: tool,
      args,
      what: `the call of ${tool}`,
      reader: options.reader,
    })
    const { isError, content, value = null } = result
    if (options.json) output.json({ isError, content, value })
    else output.result(renderContent(content))
    const isSaved = options.saveTo === undefined || (await save(output, result, options.saveTo))
    return isError || !isSaved ? 'failed' : 'ok'
  })
}

/** Whether everything could be saved. The call is over by then, so that its result was shown in any case. */
async function save(output: Output, { value }: ToolExecutionResult, folder: string): Promise<boolean> {
  try {
    const saved = await saveBinaries(value, folder)
    for (const { path, bytes } of saved)
      output.note(`${byteCount(bytes)} written to ${visibleLine(path, 400)}`)
    if (saved.length === 0) output.note('the result has no binary block to save')
    return true
  } catch (error) {
    output.error(errorLine(error))
    return false
  }
}

/** @throws {CommandError} with the reason why the tool is not there. */
async function requireTool(session: Session, tool: string): Promise<void> {
  if (registry(session).get(tool) !== undefined) return
  const { servers, file } = session.booted
  const shown = visibleLine(tool, 100)
  const server = serverOf(tool, servers.names)
  if (server !== null) requireServer(session, server)
  const named = /^mcp__(.+?)__/.exec(tool)?.[1]
  if (server === null && named !== undefined) {
    printProblems(session.output, problemsBesideServers(session))
    const choice =
      servers.names.length === 0 ? 'it configures no server' : `its servers are ${servers.names.join(', ')}`
    // None of the servers was started for this, so that nothing is known of their tools.
    throw new CommandError(
      'unusable',
      `${file} has no server ${visibleLine(named, 40)} for the tool ${shown}${didYouMean(named, servers.names)}; ${choice}`,
    )
  }
  printProblems(session.output, session.problems)
  const names = registry(session)
    .schemas()
    .map(({ name }) => name)
  throw new CommandError(
    'unusable',
    `there is no tool ${shown}${didYouMean(tool, names)}; \`dsh-mcp tools${server === null ? '' : ` ${server}`}\` lists what there is`,
  )
}
