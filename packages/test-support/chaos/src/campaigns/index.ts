/** Every campaign. */

import { crashes } from './crashes.ts'
import { disposals } from './disposals.ts'
import { sessionLosses } from './session-losses.ts'
import type { Campaign } from './types.ts'

/** All of them. */
export const campaigns: readonly Campaign[] = [crashes, disposals, sessionLosses]
