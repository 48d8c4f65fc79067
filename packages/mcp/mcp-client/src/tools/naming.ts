/**
 * The name that the model sees for a server's tool.
 *
 * Invariants: a pure function of `(serverName, rawName)`, pinned by test vectors, because session histories and
 * permission rules hold these names; the raw name is never read back out of it.
 */
import { createHash } from 'node:crypto'

/** Longest function name that the model's API accepts, in characters. */
const MAX_LENGTH = 64
const HASH_LENGTH = 12

/**
 * The public name of a tool: `mcp__<serverName>__<rawName>`, restricted to `[A-Za-z0-9_-]` and 64 characters.
 * A name that had to be changed or cut ends in 12 hexadecimal digits of the identity's SHA-256, so that two such
 * tools do not share one (naming contract v1, seed document 1). Two clean names can: the tool `c` of a server `a__b`
 * and the tool `b__c` of a server `a`; the registry then refuses the later one.
 *
 * @param serverName - the entry's configured name.
 * @param rawName - the tool's name on the wire, any text.
 */
export function publicToolName(serverName: string, rawName: string): string {
  const joined = `mcp__${serverName}__${rawName}`
  const normalized = joined.replace(/[^A-Za-z0-9_-]/g, '_')
  if (normalized === joined && normalized.length <= MAX_LENGTH) return normalized
  const hash = createHash('sha256').update(`${serverName}\0${rawName}`).digest('hex').slice(0, HASH_LENGTH)
  return `${normalized.slice(0, MAX_LENGTH - HASH_LENGTH - 1)}_${hash}`
}
