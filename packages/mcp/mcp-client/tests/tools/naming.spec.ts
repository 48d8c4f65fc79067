import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { publicToolName } from '../../src/index.ts'

const hashOf = (server: string, raw: string) =>
  createHash('sha256').update(`${server}\0${raw}`).digest('hex').slice(0, 12)

describe('the public name of a tool', () => {
  // Session histories and permission rules hold these: a change here breaks what users have (naming contract v1).
  it.each([
    ['github', 'create_issue', 'mcp__github__create_issue'],
    ['fs', 'read-file', 'mcp__fs__read-file'],
    ['web', 'search.v2', 'mcp__web__search_v2_2e497e0ea769'],
    ['web', 'with space', 'mcp__web__with_space_02248b7384bc'],
    ['web', 'ünï', 'mcp__web___n__86058c4f3caa'],
    ['web', '🙂', 'mcp__web_____e73a4d39829e'],
    ['web', '__proto__', 'mcp__web____proto__'],
    ['web', '', 'mcp__web__'],
    ['A', 'x'.repeat(56), `mcp__A__${'x'.repeat(56)}`],
    ['A', 'x'.repeat(57), `mcp__A__${'x'.repeat(43)}_6bd83481cc99`],
    ['a'.repeat(32), 'b'.repeat(25), `mcp__${'a'.repeat(32)}__${'b'.repeat(25)}`],
    ['a'.repeat(32), 'b'.repeat(26), `mcp__${'a'.repeat(32)}__${'b'.repeat(12)}_2eabdc776bec`],
  ])('of %j and %j is %j', (server, raw, name) => {
    expect(publicToolName(server, raw)).toBe(name)
  })

  it('has at most 64 characters, as a clean name as long as that has', () => {
    expect(publicToolName('A', 'x'.repeat(56))).toHaveLength(64)
    expect(publicToolName('A', 'x'.repeat(57))).toHaveLength(64)
  })

  it('ends in the hash of the identity when it had to be changed', () => {
    expect(publicToolName('web', 'a.b')).toBe(`mcp__web__a_b_${hashOf('web', 'a.b')}`)
  })

  it('differs for names that normalise to the same text', () => {
    const names = ['a.b', 'a b', 'a/b', 'a_b', 'a–b'].map((raw) => publicToolName('web', raw))
    expect(new Set(names).size).toBe(names.length)
  })

  it('differs for servers and tools that join to the same text, where it had to be changed', () => {
    expect(publicToolName('a__b', 'c.')).not.toBe(publicToolName('a', 'b__c.'))
  })

  it('is the same for clean ones that do, which the contract does not tell apart', () => {
    expect(publicToolName('a__b', 'c')).toBe(publicToolName('a', 'b__c'))
  })

  it('is what the model API accepts, whatever the tool is called', () => {
    const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme', maxLength: 200 }))
    fc.assert(
      fc.property(text, (raw) => {
        expect(publicToolName('server', raw)).toMatch(/^mcp__server__[A-Za-z0-9_-]{0,51}$/)
      }),
    )
  })
})
