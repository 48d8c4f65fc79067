/** The legacy fixture over HTTP in a process of its own, which prints where it listens and ends with its input. */

import { startHttpFixture } from '@dsh-mcp/fixtures'

const fixture = await startHttpFixture({ era: 'legacy' })
console.log(fixture.url)
process.stdin.on('end', () => process.exit(0)).resume()
