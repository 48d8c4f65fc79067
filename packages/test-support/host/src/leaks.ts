/** What this process holds on to: for tests that compare before and after. Linux only (`/proc`). */

import { readdirSync, readFileSync } from 'node:fs'

/** One live process. */
export interface ProcessInfo {
  readonly pid: number
  readonly ppid: number
  readonly command: string
}

/** A snapshot of what this process holds. */
export interface Holdings {
  /** Live descendants of this process, helpers of helpers included; zombies are not counted. */
  readonly processes: readonly ProcessInfo[]
  /**
   * Active resources by type as Node reports them (`TCPSocketWrap`, `PipeWrap`, `Timeout` …). Those of the test
   * runner are among them: for timers use `trackTimers`.
   */
  readonly resources: Readonly<Record<string, number>>
}

/** Every live process of this machine that is not a zombie. */
function allProcesses(): ProcessInfo[] {
  return readdirSync('/proc').flatMap((entry) => {
    if (!/^\d+$/u.test(entry)) return []
    try {
      // "pid (comm) state ppid …"; comm may contain spaces and parentheses.
      const stat = readFileSync(`/proc/${entry}/stat`, 'utf8')
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      if (fields[0] === 'Z') return []
      const command = readFileSync(`/proc/${entry}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
      return [{ pid: Number(entry), ppid: Number(fields[1]), command }]
    } catch {
      // The process ended between the two reads.
      return []
    }
  })
}

/** The live descendants of a process, by default of this one. */
export function descendants(pid = process.pid): ProcessInfo[] {
  const all = allProcesses()
  const found: ProcessInfo[] = []
  const parents = [pid]
  for (let parent = parents.shift(); parent !== undefined; parent = parents.shift()) {
    for (const child of all) {
      if (child.ppid !== parent) continue
      found.push(child)
      parents.push(child.pid)
    }
  }
  return found
}

/** Whether a process is alive (a zombie is not). */
export function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2)[0] !== 'Z'
  } catch {
    return false
  }
}

/** What this process holds right now. */
export function holdings(): Holdings {
  const resources: Record<string, number> = {}
  for (const type of process.getActiveResourcesInfo()) resources[type] = (resources[type] ?? 0) + 1
  return { processes: descendants(), resources }
}

/**
 * What is held now and was not held before: processes, and resources whose count grew.
 *
 * @param before - an earlier snapshot of {@link holdings}.
 */
export function growth(before: Holdings): Holdings {
  const now = holdings()
  const known = new Set(before.processes.map(({ pid }) => pid))
  const grown = Object.entries(now.resources).flatMap(([type, count]) => {
    const more = count - (before.resources[type] ?? 0)
    return more > 0 ? [[type, more] as const] : []
  })
  return {
    processes: now.processes.filter(({ pid }) => !known.has(pid)),
    resources: Object.fromEntries(grown),
  }
}
