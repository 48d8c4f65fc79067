/**
 * `npm start`: the console on this repository's own cordis.yml. Without arguments it is `dsh-mcp run`;
 * `npm start -- tools --json` passes its arguments on.
 */

import { withWorkspace } from './with-workspace.mjs'

const args = process.argv.slice(2)

// The host's HMR plugin needs Node's internal module loader.
await withWorkspace('node', [
  '--expose-internals',
  'packages/mcp/mcp-console/src/bin.ts',
  ...(args.length > 0 ? args : ['run']),
])
