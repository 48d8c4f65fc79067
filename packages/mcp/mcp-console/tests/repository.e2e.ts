/** This repository's own composition, as `npm start` runs it, with servers that nobody here wrote. */
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { run, runJson } from './support.ts'

const cwd = fileURLToPath(new URL('../../../..', import.meta.url))

it('boots, and lists three servers of two eras with their tools', async () => {
  const { code, stdout } = await run(['run'], { cwd })
  expect(stdout).toMatch(/^everything +stdio +connected +2025-\d\d-\d\d /m)
  expect(stdout).toMatch(/^filesystem +stdio +connected +2025-\d\d-\d\d /m)
  expect(stdout).toMatch(/^web +streamable-http +connected +2026-07-28 /m)
  for (const name of ['mcp__everything__echo', 'mcp__filesystem__read_text_file', 'mcp__web__search']) {
    expect(stdout).toMatch(new RegExp(`^  ${name} `, 'm'))
  }
  expect(code).toBe(0)
})

it('writes nothing but JSON to standard output, whatever its console logger says', async () => {
  const { code, value, stderr } = await runJson(['tools'], { cwd })
  expect(value).toContainEqual(
    expect.objectContaining({ name: 'mcp__everything__echo', server: 'everything' }),
  )
  expect(stderr).toContain('mcp-client(everything): connected')
  expect(code).toBe(0)
})

it('calls a tool', async () => {
  const { code, stdout } = await run(['call', 'mcp__everything__echo', '{"message":"hi"}'], { cwd })
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'Echo: hi\n' })
})

it('shows the instructions of the servers that have them, and the list of servers', async () => {
  const { code, stdout } = await run(['prompt'], { cwd })
  expect(stdout).toContain('["everything","filesystem","web"]')
  expect(stdout).toContain('A gardening handbook.')
  expect(stdout).toContain('# Everything Server')
  expect(code).toBe(0)
})
