/**
 * The ranges in which our packages accept their host, against what the registry has (decision 0009).
 *
 * A range admits a prerelease only where it names one of the same version, so that a caret alone shuts out every
 * later release candidate.
 */
import { maxSatisfying, prerelease, satisfies } from 'semver'
import { describe, expect, it } from 'vitest'
import { publishedPackages } from '../../../../scripts/workspace.ts'
import published from './published-versions.json' with { type: 'json' }

const versions: Readonly<Record<string, readonly string[]>> = published.versions

/** The release candidates before the one that everything was built and tested against. */
const TOO_OLD = new Set(['0.0.1-rc.1', '0.1.0-rc.6', '0.1.0-rc.7'])

const peers = publishedPackages().flatMap(({ manifest }) =>
  Object.entries(manifest.peerDependencies ?? {}).map(([peer, range]) => ({
    name: manifest.name,
    peer,
    range,
  })),
)
const hostPeers = peers.filter(({ peer }) => peer.startsWith('@deepseek-ai/dsh-'))

it('every peer is one whose published versions are known here', () => {
  expect(peers.length).toBeGreaterThan(4)
  expect(peers.filter(({ peer }) => !(peer in versions))).toEqual([])
})

describe.each(hostPeers)('$name with $peer', ({ peer, range }) => {
  it('accepts each published version from the first supported one on', () => {
    for (const version of versions[peer]!) {
      expect(satisfies(version, range), version).toBe(!TOO_OLD.has(version))
    }
  })

  it('accepts the release candidates that are there of other packages of the family', () => {
    for (const version of published.seenElsewhere) expect(satisfies(version, range), version).toBe(true)
  })

  it.each(['0.1.0', '0.1.1', '0.1.2-alpha.0', '0.1.7', '0.1.9-rc.1', '0.1.25'])(
    'accepts a later %s',
    (version) => {
      expect(satisfies(version, range)).toBe(true)
    },
  )

  it.each(['0.1.0-rc.7', '0.2.0-alpha.1', '0.2.0', '1.0.0'])('refuses %s', (version) => {
    expect(satisfies(version, range)).toBe(false)
  })
})

describe.each(peers.filter(({ peer }) => !peer.startsWith('@deepseek-ai/dsh-')))(
  '$name with $peer',
  ({ peer, range }) => {
    it('accepts every published version', () => {
      expect(versions[peer]!.filter((version) => !satisfies(version, range))).toEqual([])
      expect(versions[peer]!.filter((version) => prerelease(version) !== null)).toEqual([])
    })
  },
)

it('leads an ordinary install to versions that can be installed', () => {
  // The client of the registry takes the newest version that a range admits.
  for (const { peer, range } of hostPeers) {
    const chosen = maxSatisfying([...versions[peer]!], range)
    expect(chosen, peer).not.toBeNull()
    expect(Object.keys(published.incomplete), peer).not.toContain(chosen)
  }
})
