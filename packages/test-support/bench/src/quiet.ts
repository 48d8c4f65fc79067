/** Leaving nothing behind that the next measurement would notice. */

import { descendants, eventually } from '@dsh-mcp/host'

/** Wait until every process that was started here is gone. */
export async function quiet(): Promise<void> {
  await eventually(() => {
    const left = descendants()
    if (left.length > 0) throw new Error(`still running: ${left.map(({ command }) => command).join(', ')}`)
  })
}
