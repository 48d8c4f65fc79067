/** The status of servers in words: the table, and the line of one change. */
import type { McpClientStatus, McpClientStatusKind } from '@deepseek-ai/dsh-mcp-client'
import type { ServerRow } from '../composition/servers.ts'
import type { Paint, Tone } from '../output.ts'
import { renderTable } from './table.ts'

const TONES: Record<McpClientStatusKind, Tone> = {
  connecting: 'busy',
  connected: 'good',
  reconnecting: 'busy',
  failed: 'bad',
  disposed: 'faint',
}

/** The table of all servers, with the errors in full below it. */
export function renderStatusTable(rows: readonly ServerRow[], paint: Paint): string {
  if (rows.length === 0) return 'The composition configures no MCP server.'
  const columns = [
    { title: 'SERVER' },
    { title: 'TRANSPORT' },
    { title: 'STATUS' },
    { title: 'PROTOCOL' },
    { title: 'TOOLS', isNumber: true },
    { title: 'RESOURCES', isNumber: true },
    { title: 'CONNECTED IN', isNumber: true },
  ]
  const table = renderTable(
    columns,
    rows.map((row) => [
      paint('strong', row.serverName),
      row.transport ?? '-',
      paint(TONES[row.status], row.status),
      row.protocolVersion ?? '-',
      String(row.toolCount),
      row.resourceCount === null ? '-' : String(row.resourceCount),
      row.connectMs === null ? '-' : `${row.connectMs} ms`,
    ]),
  )
  const errors = rows.flatMap(({ serverName, error }) =>
    error === null ? [] : `${paint('bad', serverName)}: ${error}`,
  )
  return [table, ...(errors.length === 0 ? [] : ['', ...errors])].join('\n')
}

/** What one server says of itself. */
export function renderStatus(status: McpClientStatus, paint: Paint, now: Date = new Date()): string {
  const detail = detailOf(status, now)
  const kind = paint(TONES[status.status], status.status)
  return `${paint('strong', status.serverName)} ${kind}${detail === '' ? '' : ` ${detail}`}`
}

function detailOf(status: McpClientStatus, now: Date): string {
  const { attempt, nextAttemptAt, error = '', protocolVersion, toolCount } = status
  switch (status.status) {
    case 'connecting':
      return attempt === undefined ? '' : `(attempt ${attempt})`
    case 'connected':
      return `(${protocolVersion ?? 'unknown protocol'}, ${toolCount} ${toolCount === 1 ? 'tool' : 'tools'})`
    case 'reconnecting': {
      const seconds = (Math.max(0, (nextAttemptAt ?? 0) - now.getTime()) / 1000).toFixed(1)
      return `(attempt ${attempt} in ${seconds} s): ${error}`
    }
    case 'failed':
      return `(${toolCount} tools): ${error}`
    case 'disposed':
      return ''
  }
}
