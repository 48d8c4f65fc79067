/** Every fault, by name. */

import { bodyFaults } from './http-bodies.ts'
import { outageFaults } from './http-outages.ts'
import { refusalFaults } from './http-refusals.ts'
import { sessionFaults } from './http-sessions.ts'
import { listFaults } from './lists.ts'
import { lifeFaults } from './lives.ts'
import { outputFaults } from './outputs.ts'
import type { Fault } from './types.ts'

export { lifeFaults, listFaults, outputFaults }
export type { Fault } from './types.ts'

/** Faults of servers behind HTTP. */
export const httpFaults: readonly Fault[] = [
  ...sessionFaults,
  ...outageFaults,
  ...refusalFaults,
  ...bodyFaults,
]

/** All of them, local processes first. */
export const faults: readonly Fault[] = [...lifeFaults, ...outputFaults, ...listFaults, ...httpFaults]
