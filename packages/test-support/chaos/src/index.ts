/** Faults of MCP servers, and what has to come of them in the real host. */

export { faults, httpFaults, lifeFaults, listFaults, outputFaults } from './faults/index.ts'
export type { Expectation, Fault, FaultyServer } from './faults/types.ts'
export { inject } from './inject.ts'
export type { Outcome } from './inject.ts'
export { hasLeaks, openLedger } from './ledger.ts'
export type { Leaks, Ledger } from './ledger.ts'
export { createRandom } from './random.ts'
export type { Random } from './random.ts'
