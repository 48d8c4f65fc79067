/** The command line: which commands there are, what each takes, and how a command's end becomes an exit code. */
import { createRequire } from 'node:module'
import type { Readable } from 'node:stream'
import { Command, CommanderError, InvalidArgumentError } from 'commander'
import { call } from './commands/call.ts'
import { prompt } from './commands/prompt.ts'
import { read, resources, templates } from './commands/resources.ts'
import { run } from './commands/run.ts'
import { DEFAULT_START_BOUND_MS, type Common } from './commands/session.ts'
import { status } from './commands/status.ts'
import type { ModelRoute } from './commands/tool-call.ts'
import { tools } from './commands/tools.ts'
import { CommandError, exitCode, outcomeOf, type Outcome } from './exit.ts'
import type { Output } from './output.ts'
import { errorLine } from './render/text.ts'

const { version } = createRequire(import.meta.url)('../package.json') as { version: string }

/** Longest time that a timer can hold, in ms. */
const MAX_TIMEOUT_MS = 2_147_483_647

/** What the program works with. */
export interface Surroundings {
  readonly output: Output
  readonly stdin: Readable
  readonly interrupt: AbortSignal
  /** Whether a person sits at both ends. */
  readonly isInteractive: boolean
}

interface GlobalFlags {
  config: string
  timeout?: number
  json?: boolean
}

function milliseconds(written: string): number {
  const value = Number(written)
  if (/^\d+$/.test(written) && value >= 1 && value <= MAX_TIMEOUT_MS) return value
  throw new InvalidArgumentError(`It takes a whole number of milliseconds from 1 to ${MAX_TIMEOUT_MS}.`)
}

function modelRoute(written: string): ModelRoute {
  const [, provider, model] = /^([^/]+)\/(.+)$/.exec(written) ?? []
  if (provider !== undefined && model !== undefined) return { provider, model }
  throw new InvalidArgumentError('It takes the provider and the model, with a slash between them.')
}

/**
 * Run the program.
 *
 * @param argv - the arguments after the program's name.
 * @returns the exit code.
 */
export async function main(argv: readonly string[], around: Surroundings): Promise<number> {
  const { output } = around
  let outcome: Outcome = 'ok'
  const complaints: string[] = []
  const program = buildProgram(around, complaints, (ended) => (outcome = ended))
  try {
    await program.parseAsync([...argv], { from: 'user' })
  } catch (thrown) {
    const error = thrown instanceof CommanderError ? usageError(thrown, complaints) : thrown
    outcome = error === undefined ? 'ok' : outcomeOf(error)
    if (error !== undefined) {
      const message = errorLine(error)
      output.error(message)
      if (argv.includes('--json')) output.json({ error: message })
    }
  }
  await output.flush()
  return exitCode(outcome)
}

/** What commander throws: nothing that is an error after `--help` and `--version`, else a complaint. */
function usageError(error: CommanderError, complaints: readonly string[]): CommandError | undefined {
  if (error.exitCode === 0) return undefined
  // Without a command, the complaint is the whole help.
  const complaint =
    error.code === 'commander.help' ? 'there is no command, like run or status' : complaints.join(' ')
  const line = complaint.replaceAll(/^error: |\.?\s*$/g, '').replaceAll(/\s+/g, ' ')
  return new CommandError('unusable', `${line}; dsh-mcp --help shows the commands`)
}

function buildProgram(
  { output, stdin, interrupt, isInteractive }: Surroundings,
  complaints: string[],
  end: (outcome: Outcome) => void,
): Command {
  const program = new Command('dsh-mcp')
    .description('Run, look at and debug the MCP servers of a cordis.yml.')
    .version(version, '-v, --version')
    .option('-c, --config <path>', 'the composition', './cordis.yml')
    .option(
      '-t, --timeout <ms>',
      `bound for starting the servers and for the call together (default: ${DEFAULT_START_BOUND_MS} for the start; a call has its server's toolCallTimeoutMs)`,
      milliseconds,
    )
    .option('--json', 'print one JSON value and nothing else')
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => output.result(text),
      writeErr: (text) => complaints.push(text),
    })
    .addHelpText(
      'after',
      '\nExit codes: 0 all is well, 1 a server or a call failed, 2 wrong usage or composition.',
    )

  const common = (): Common => {
    const { config, timeout, json = false } = program.opts<GlobalFlags>()
    return { config, timeoutMs: timeout, json, output, interrupt }
  }
  const command = (usage: string, description: string) => program.command(usage).description(description)

  command('run', 'boot it, show the servers and their tools; on a terminal stay and follow changes')
    .option('--once', 'end after the table, on a terminal too')
    .action(async ({ once = false }: { once?: boolean }) => {
      const options = common()
      end(await run({ ...options, isStaying: isInteractive && !once && !options.json }))
    })
  command('status', 'one row for each server').action(async () => end(await status(common())))
  command('tools', 'the tools that the model gets')
    .argument('[server]', 'only those of this server')
    .option('--schema', 'with their input and output schemas')
    .option('--all', 'also those of the host itself')
    .action(async (server: string | undefined, flags: { schema?: boolean; all?: boolean }) => {
      const { schema: withSchemas = false, all: withHost = false } = flags
      end(await tools({ ...common(), server, withSchemas, withHost }))
    })
  command('call', 'call a tool and show what the model would read')
    .argument('<tool>', 'its registered name, mcp__<server>__<tool>')
    .argument('[args]', 'a JSON object, @FILE, or - for standard input')
    .option(
      '--model <provider/model>',
      'the model that reads it; one that takes images is shown images',
      modelRoute,
    )
    .option('--save <dir>', 'write images and other binary blocks to files in this folder')
    .action(async (tool: string, args: string | undefined, flags: { model?: ModelRoute; save?: string }) => {
      const { model: reader, save: saveTo } = flags
      end(await call({ ...common(), tool, args, stdin, saveTo, reader }))
    })
  command('resources', 'the resources of a server')
    .argument('<server>')
    .action(async (server: string) => end(await resources({ ...common(), server })))
  command('templates', 'the resource templates of a server')
    .argument('<server>')
    .action(async (server: string) => end(await templates({ ...common(), server })))
  command('read', 'read a resource')
    .argument('<server>')
    .argument('<uri>')
    .option('-o, --output <file>', 'write it to a file')
    .action(async (server: string, uri: string, { output: file }: { output?: string }) => {
      end(await read({ ...common(), server, uri, file }))
    })
  command('prompt', 'what MCP adds to the system prompt').action(async () => end(await prompt(common())))
  return program
}
