import type { Tool } from '@modelcontextprotocol/client'
import { describe, expect, it } from 'vitest'
import { buildCatalog, CatalogError } from '../../src/tools/catalog.ts'

const show = (name: string) => `<${name}>`
const tool = (name: string): Tool => ({ name, inputSchema: { type: 'object' } })

describe('a catalog', () => {
  it('holds the tools by public name, in the order of the list', () => {
    const tools = [tool('b'), tool('a.b'), tool('a')]
    expect([...buildCatalog('web', tools, show)]).toEqual([
      ['mcp__web__b', tools[0]],
      [expect.stringMatching(/^mcp__web__a_b_[0-9a-f]{12}$/), tools[1]],
      ['mcp__web__a', tools[2]],
    ])
  })

  it('holds tools whose names normalise to the same text', () => {
    expect(buildCatalog('web', [tool('a.b'), tool('a b'), tool('a_b')], show).size).toBe(3)
  })

  it('is not made of a list that has a name twice, and the error shows the name', () => {
    const twice = () =>
      buildCatalog('web', [tool('a'), tool('x\n\u202ey'), tool('b'), tool('x\n\u202ey')], show)
    expect(twice).toThrow(CatalogError)
    expect(twice).toThrow('the server lists the tool "<x\\n\u202ey>" twice, so its list is invalid')
  })
})
