import { defineConfig } from 'vitest/config'

// The same files run on both backends; what needs real connections runs on Postgres alone.
const onBothBackends = ['test/engine/**/*.test.ts', 'test/conformance/**/*.test.ts', 'test/support/setup.test.ts']
const onDatabases = ['test/sql/**/*.test.ts', 'test/support/**/*.test.ts', 'test/statements.test.ts']
const onConnections = ['test/races/**/*.test.ts', 'test/crash/**/*.test.ts']
const globalSetup = ['test/support/global-setup.ts']

export default defineConfig({
  test: {
    // On two cores a third worker only makes the others slower; Postgres needs its share as well.
    maxWorkers: 2,
    reporters: ['default', './test/support/summary-reporter.ts'],
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          // Whatever no other project takes, so that no test file is forgotten.
          include: ['test/**/*.test.ts', 'scripts/**/*.test.ts'],
          exclude: [...onBothBackends, ...onDatabases, ...onConnections],
          isolate: false,
        },
      },
      {
        extends: true,
        // One worker keeps its PGlite from file to file: it takes seconds to start (measured: 3.6 s cold).
        test: { name: 'embedded', include: onBothBackends, isolate: false, provide: { backend: 'embedded' } },
      },
      {
        extends: true,
        test: { name: 'postgres', include: onBothBackends, isolate: false, provide: { backend: 'postgres' }, globalSetup },
      },
      {
        extends: true,
        test: { name: 'sql', include: onDatabases, exclude: onBothBackends, globalSetup, testTimeout: 30_000 },
      },
      {
        extends: true,
        test: { name: 'races', include: onConnections, provide: { backend: 'postgres' }, globalSetup, testTimeout: 30_000 },
      },
    ],
  },
})
