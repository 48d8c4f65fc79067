/** Tools as text: short for an overview, or as the model gets them. */
import { visibleLine, visibleText } from '@deepseek-ai/dsh-mcp-text'
import type { Paint } from '../output.ts'
import { jsonText } from './text.ts'

/** Longest description in an overview where there is no terminal to fit it to, in characters. */
const OVERVIEW_LENGTH = 100
/** Narrowest description that is worth its place. */
const MIN_OVERVIEW_LENGTH = 20

/** One tool that the model gets. */
export interface ToolInfo {
  readonly name: string
  /** The server that it comes from; `null` for a tool of the host itself. */
  readonly server: string | null
  readonly description: string
  readonly inputSchema: unknown
  /** What a program gets from a call; with `--schema` only. */
  readonly outputSchema?: unknown
}

/** Names and the beginnings of the descriptions, under a heading for each server. */
export function renderToolOverview(
  tools: readonly ToolInfo[],
  paint: Paint,
  columns: number | undefined,
): string {
  const width = Math.max(0, ...tools.map(({ name }) => name.length))
  const room = columns === undefined ? OVERVIEW_LENGTH : Math.max(MIN_OVERVIEW_LENGTH, columns - width - 5)
  return byServer(tools)
    .map(([server, its]) => {
      const lines = its.map(({ name, description }) => {
        return `  ${name.padEnd(width)}  ${paint('faint', visibleLine(firstSentence(description), room))}`.trimEnd()
      })
      return [heading(server, its.length, paint), ...lines].join('\n')
    })
    .join('\n\n')
}

function firstSentence(description: string): string {
  const [line = ''] = description.trimStart().split(/\r?\n/, 1)
  return /^.*?[.!?](?=\s)/.exec(line)?.[0] ?? line.trimEnd()
}

/** Names and whole descriptions, and with schemas everything that the model knows of a tool. */
export function renderTools(tools: readonly ToolInfo[], paint: Paint): string {
  return byServer(tools)
    .map(([server, its]) =>
      [heading(server, its.length, paint), ...its.map((tool) => renderTool(tool, paint))].join('\n'),
    )
    .join('\n\n')
}

function renderTool({ name, description, inputSchema, outputSchema }: ToolInfo, paint: Paint): string {
  const lines = [`  ${paint('strong', name)}`]
  if (description !== '') lines.push(indented(visibleText(description)))
  if (outputSchema !== undefined) {
    lines.push(paint('faint', '    input'), indented(jsonText(inputSchema)))
    lines.push(paint('faint', '    output'), indented(jsonText(outputSchema)))
  }
  return lines.join('\n')
}

function indented(text: string): string {
  return text
    .trimEnd()
    .split(/\r?\n/)
    .map((line) => `    ${line}`.trimEnd())
    .join('\n')
}

function heading(server: string | null, count: number, paint: Paint): string {
  return `${paint('strong', server ?? 'the host')}: ${count} ${count === 1 ? 'tool' : 'tools'}`
}

function byServer(tools: readonly ToolInfo[]): [string | null, ToolInfo[]][] {
  return [...Map.groupBy(tools, ({ server }) => server)]
}
