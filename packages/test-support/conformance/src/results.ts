/** What one run of the suite found: the checks of each scenario, read from the folder that the suite wrote. */
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The driver's last word when it did all that the scenario needs. */
export const DONE = 'driver: done'

/** How a check ended. A warning breaks a SHOULD; a skipped check was never reached. */
export type CheckStatus = 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED'

/** One check of a scenario. The suite may make the same one several times: the worst outcome counts. */
export interface Check {
  /** The suite's name of the check, unique within the scenario. */
  readonly name: string
  readonly status: CheckStatus
  /** Why it is not a success, in the suite's words. */
  readonly message: string
}

/** One scenario of one run. */
export interface ScenarioResult {
  readonly scenario: string
  readonly checks: readonly Check[]
  /** What the driver wrote to stderr. */
  readonly stderr: string
}

/** The check that stands for the driver itself: the suite ignores how it ended. */
export const DRIVER_CHECK = 'driver completed'

const SEVERITY: readonly CheckStatus[] = ['SUCCESS', 'SKIPPED', 'WARNING', 'FAILURE']

interface RawCheck {
  readonly id: string
  readonly name: string
  readonly status: CheckStatus | 'INFO'
  readonly description: string
  readonly errorMessage?: string
}

/** The checks of a raw list, one for each name; what only informs is left out. */
export function foldChecks(raw: readonly RawCheck[]): Check[] {
  const folded = new Map<string, Check>()
  for (const { id, name: given, status, description, errorMessage } of raw) {
    if (status === 'INFO') continue
    // Checks that the suite declares and never made all have this name.
    const name = given === 'NotObserved' ? id : given
    const before = folded.get(name)
    if (before !== undefined && SEVERITY.indexOf(before.status) >= SEVERITY.indexOf(status)) continue
    folded.set(name, { name, status, message: errorMessage ?? description })
  }
  return [...folded.values()]
}

/** Read what the suite wrote to `folder`: one folder `<scenario>-<time>` for each scenario. */
export function readResults(folder: string): ScenarioResult[] {
  return globSync('**/checks.json', { cwd: folder })
    .toSorted()
    .map((file) => {
      const read = (name: string) => readFileSync(join(folder, dirname(file), name), 'utf8')
      const hasCompleted = read('stdout.txt').includes(DONE)
      const driver: Check = {
        name: DRIVER_CHECK,
        status: hasCompleted ? 'SUCCESS' : 'FAILURE',
        message: 'the driver could not do what the scenario needs',
      }
      return {
        scenario: dirname(file).replace(/-\d{4}-\d{2}-\d{2}T[\d-]+Z$/, ''),
        checks: [...foldChecks(JSON.parse(read('checks.json')) as RawCheck[]), driver],
        stderr: read('stderr.txt').trim(),
      }
    })
}
