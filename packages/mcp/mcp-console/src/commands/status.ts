/** `dsh-mcp status`: one row for each server. */
import type { ServerRow } from '../composition/servers.ts'
import type { Outcome } from '../exit.ts'
import { renderStatusTable } from '../render/status.ts'
import { countResources } from './resources.ts'
import {
  healthOf,
  inSession,
  printProblems,
  problemsBesideServers,
  type Common,
  type Session,
} from './session.ts'

/** The table as it is now, resources counted. */
export async function statusRows(session: Session): Promise<ServerRow[]> {
  return await Promise.all(
    session.rows().map(async (row) => ({ ...row, resourceCount: await countResources(session, row) })),
  )
}

/** Run the command. */
export async function status(options: Common): Promise<Outcome> {
  return await inSession(options, {}, async (session) => {
    const rows = await statusRows(session)
    if (options.json) options.output.json(rows)
    else options.output.result(renderStatusTable(rows, options.output.paint))
    printProblems(options.output, problemsBesideServers(session))
    return healthOf(session, rows)
  })
}
