import { listFaults } from '@dsh-mcp/chaos'
import { expect, it } from 'vitest'
import { ALL_WELL, meet } from './meet.ts'

it.each(listFaults)('a server that $does ($name)', { timeout: 120_000 }, async (fault) => {
  expect(await meet(fault)).toEqual(ALL_WELL)
})
