/**
 * Two projects: `unit` (*.spec.ts, this process only) and `e2e` (*.e2e.ts, real processes and HTTP).
 *
 * Tests run on Node's own module loader, as the product does, instead of a bundler's: whatever imports a
 * module (a test, a source, a host package, the Cordis loader) gets the one instance that Node has of it, and
 * coverage is measured on the file as it stands.
 */

import { defineConfig } from 'vitest/config'

if (!process.features.typescript) {
  throw new Error(
    `the tests need the Node of this workspace, not ${process.version}: use npm test or put node_modules/.bin first on PATH`,
  )
}

export default defineConfig({
  test: {
    experimental: { viteModuleRunner: false, nodeLoader: false },
    pool: 'forks',
    // Most of the tests' time is waiting for processes and sockets.
    maxWorkers: '100%',
    // A test without an assertion cannot fail.
    expect: { requireAssertions: true },
    unstubEnvs: true,
    unstubGlobals: true,
    restoreMocks: true,
    coverage: {
      // Files that no test imports count too.
      include: ['packages/mcp/{mcp-text,mcp-client,mcp-resources}/src/**/*.ts'],
      reporter: [['text', { skipFull: true }]],
      thresholds: { 100: true, perFile: true },
    },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['{packages,scripts}/**/tests/**/*.spec.ts'],
          testTimeout: 10_000,
          hookTimeout: 10_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          include: ['{packages,scripts}/**/tests/**/*.e2e.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
})
