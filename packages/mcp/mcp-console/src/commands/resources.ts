/** `dsh-mcp resources`, `templates` and `read`: what a server offers to read, through the shared tools. */
import { writeFile } from 'node:fs/promises'
import { visibleLine, visibleText } from '@deepseek-ai/dsh-mcp-text'
import type { JsonValue } from '@deepseek-ai/dsh-tools'
import type { ServerRow } from '../composition/servers.ts'
import { CommandError, type Outcome } from '../exit.ts'
import { fileReason } from '../file-error.ts'
import { renderTable } from '../render/table.ts'
import { byteCount } from '../render/content.ts'
import { inSession, missingService, requireServer, type Common, type Session } from './session.ts'
import { callTool, registry } from './tool-call.ts'

const LIST_RESOURCES = 'list_mcp_resources'
const LIST_TEMPLATES = 'list_mcp_resource_templates'
const READ_RESOURCE = 'read_mcp_resource'

/** Longest wait for the number of one server's resources, in ms; a status must not wait for a slow list. */
const COUNT_BOUND_MS = 5000

type Fields = Record<string, JsonValue | undefined>

/** Options of the commands. */
export interface ResourceOptions extends Common {
  readonly server: string
}

/** Options of `read`. */
export interface ReadOptions extends ResourceOptions {
  readonly uri: string
  /** Write the first content to this file instead of showing it. */
  readonly file: string | undefined
}

/** How many resources a server lists; `null` when that is not known. */
export async function countResources(session: Session, row: ServerRow): Promise<number | null> {
  const tools = session.booted.ctx.get('tools')
  if (row.status !== 'connected' || tools?.get(LIST_RESOURCES) === undefined) return null
  const bounded = { ...session, timeoutMs: COUNT_BOUND_MS, deadline: performance.now() + COUNT_BOUND_MS }
  try {
    const { value } = await callTool(bounded, {
      name: LIST_RESOURCES,
      args: { server: row.serverName },
      what: `the resource list of ${row.serverName}`,
    })
    const listed = (value as Fields | undefined)?.['resources']
    return Array.isArray(listed) ? listed.length : null
  } catch {
    return null
  }
}

async function request(
  session: Session,
  tool: string,
  args: Record<string, unknown>,
  what: string,
): Promise<Fields> {
  if (registry(session).get(tool) === undefined) {
    throw missingService(session, 'mounts no resource service', '@deepseek-ai/dsh-mcp-resources')
  }
  const result = await callTool(session, { name: tool, args, what })
  if (result.isError) throw new CommandError('failed', visibleLine(result.error.message, 2000))
  return result.value as Fields
}

function onServer(options: ResourceOptions, work: (session: Session) => Promise<Outcome>): Promise<Outcome> {
  return inSession(options, { isWanted: (name) => name === options.server }, async (session) => {
    requireServer(session, options.server)
    return await work(session)
  })
}

async function list(
  options: ResourceOptions,
  tool: string,
  field: string,
  address: 'uri' | 'uriTemplate',
): Promise<Outcome> {
  return await onServer(options, async (session) => {
    const { output, server } = options
    const listed = (await request(session, tool, { server }, `the list of ${JSON.stringify(server)}`))[field]
    const items = (Array.isArray(listed) ? listed : []) as Fields[]
    if (options.json) output.json(items)
    else if (items.length === 0) output.result(`${server} lists none.`)
    else {
      const columns = [address === 'uri' ? 'URI' : 'URI TEMPLATE', 'NAME', 'TYPE', 'SIZE', 'DESCRIPTION'].map(
        (title) => ({ title }),
      )
      const cell = (value: JsonValue | undefined, length: number) =>
        typeof value === 'string' ? visibleLine(value, length) : '-'
      const rows = items.map((item) => [
        cell(item[address], 200),
        cell(item['title'] ?? item['name'], 60),
        cell(item['mimeType'], 60),
        typeof item['size'] === 'number' ? byteCount(item['size']) : '-',
        cell(item['description'], 80),
      ])
      output.result(renderTable(columns, rows))
    }
    return 'ok'
  })
}

/** Run `resources`. */
export async function resources(options: ResourceOptions): Promise<Outcome> {
  return await list(options, LIST_RESOURCES, 'resources', 'uri')
}

/** Run `templates`. */
export async function templates(options: ResourceOptions): Promise<Outcome> {
  return await list(options, LIST_TEMPLATES, 'resourceTemplates', 'uriTemplate')
}

/** Run `read`. */
export async function read(options: ReadOptions): Promise<Outcome> {
  return await onServer(options, async (session) => {
    const { output, server, uri, file } = options
    const value = await request(
      session,
      READ_RESOURCE,
      { server, uri },
      `the read of ${visibleLine(uri, 100)}`,
    )
    const contents = (Array.isArray(value['contents']) ? value['contents'] : []) as Fields[]
    if (file !== undefined) {
      const bytes = await save(contents, file)
      output.note(`${byteCount(bytes)} written to ${visibleLine(file)}`)
      if (contents.length > 1)
        output.note(`the other ${contents.length - 1} contents of the resource were not written`)
    }
    if (options.json) output.json(value)
    else if (file === undefined) output.result(contents.map(renderContent).join('\n'))
    return 'ok'
  })
}

async function save([first]: readonly Fields[], file: string): Promise<number> {
  if (first === undefined)
    throw new CommandError('failed', 'the resource has no content, so nothing was written')
  const { blob, text } = first
  const data =
    typeof blob === 'string' ? Buffer.from(blob, 'base64') : Buffer.from(typeof text === 'string' ? text : '')
  try {
    await writeFile(file, data)
  } catch (error) {
    throw new CommandError('unusable', `cannot write ${visibleLine(file)}: ${fileReason(error)}`)
  }
  return data.length
}

function renderContent({ uri, mimeType, text, blob }: Fields): string {
  if (typeof text === 'string') return visibleText(text)
  const type = typeof mimeType === 'string' ? visibleLine(mimeType, 60) : 'unknown type'
  const size = typeof blob === 'string' ? byteCount(Buffer.byteLength(blob, 'base64')) : 'no data'
  return `[binary ${typeof uri === 'string' ? visibleLine(uri) : 'content'}: ${type}, ${size}; -o FILE writes it to a file]`
}
