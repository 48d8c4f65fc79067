/**
 * The processes that the plugin started in this run. Linux only.
 *
 * A process is found by its environment, which it inherits whatever session, group or parent it has: the run by a
 * name that only this program sets, the tree by the plugin's own marker.
 */

import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'

/** Names the entry that a process belongs to; part of an entry's `env`. */
const ENTRY_NAME = 'CHAOS_ENTRY'

/** How the plugin marks the processes of one connection (`src/transport/process-tree.ts`). */
const TREE_NAME = 'MCP_CLIENT_GENERATION'

/** What sets this run apart from every other on the machine. */
const run = randomUUID()

/** One live process of this run. */
export interface OwnProcess {
  readonly pid: number
  /** The connection that it was started for; empty when the plugin did not mark it. */
  readonly tree: string
  readonly command: string
}

let entries = 0

/** An entry of this run, by which its processes are found. */
export class EntryMark {
  readonly #value = `${run}/${entries++}`

  /** Has to stand in the entry's `env`. */
  get env(): Record<string, string> {
    return { [ENTRY_NAME]: this.#value }
  }

  /** Its live processes, zombies not counted. */
  processes(): OwnProcess[] {
    return find(this.#value, '\0')
  }
}

/** The live processes of every entry of this run. */
export function ownProcesses(): OwnProcess[] {
  return find(`${run}/`, '')
}

function find(value: string, end: string): OwnProcess[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/u.test(name))
  return pids.flatMap((pid) => {
    try {
      const environment = `\0${readFileSync(`/proc/${pid}/environ`, 'latin1')}\0`
      if (!environment.includes(`\0${ENTRY_NAME}=${value}${end}`)) return []
      const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
      if (/^[ZX]/u.test(stat.slice(stat.lastIndexOf(')') + 2))) return []
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
      const tree = new RegExp(`\\0${TREE_NAME}=([^\\0]*)`, 'u').exec(environment)?.[1] ?? ''
      return [{ pid: Number(pid), tree, command }]
    } catch {
      // It ended between two reads, or belongs to somebody else.
      return []
    }
  })
}
