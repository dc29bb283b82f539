import { defineConfig } from 'vitest/config'
import { LongestFirst } from './test/support/longest-first.ts'
import { measureSlowness, slownessVariable } from './test/support/patience.ts'
import { leftOutOfQuick } from './test/support/quick.ts'

// The engine's files run on both backends; what needs real connections runs on Postgres alone.
const engine = [
  'test/engine/**/*.test.ts',
  'test/worker/**/*.test.ts',
  'test/cli/{doctor,ids,nouns,print-events,process,serve,show,submit,usage,verify,work}.test.ts',
  'test/conformance/**/*.test.ts',
  'test/server/**/*.test.ts',
  'test/support/setup.test.ts',
]
// Through a server and its client as well: every operation, and what a worker lives on. Whether a value is good is said by the
// same engine behind the server; that it is asked is shown by bad ids.
const overHttp = [
  'test/conformance/**/*.test.ts',
  'test/engine/execution/{bad-id,cancel,cancel-grace,claim,claim-attempt,claim-patience,complete,create,delay,fail}.test.ts',
  'test/engine/execution/{grant,release,renew,replay,result,resume,suspend,suspend-refused,tag,try-suspend}.test.ts',
  'test/engine/waiting/suspension/lifecycle.test.ts',
  'test/engine/duties/suspension-timeout.test.ts',
  'test/engine/waiting/signal/{send,redeem,repeat}.test.ts',
  'test/engine/flow/{add-member,cancel,connect,graph,submit-graph,upstream-results,wait}.test.ts',
  'test/engine/step/**/*.test.ts',
  'test/worker/**/*.test.ts',
]
// As a role that does not own the schema: every operation, and what takes rights of its own.
const asApplication = [
  'test/application/**/*.test.ts',
  'test/conformance/**/*.test.ts',
  'test/engine/execution/{claim,complete,create,fail,suspend}.test.ts',
  'test/engine/flow/{submit-graph,cancel}.test.ts',
  'test/engine/waiting/signal/send.test.ts',
  'test/engine/step/**/*.test.ts',
]
const databases = [
  'test/sql/**/*.test.ts',
  'test/connect/**/*.test.ts',
  'test/support/**/*.test.ts',
  'test/examples/**/*.test.ts',
  'test/statements.test.ts',
]
const connections = ['test/races/**/*.test.ts', 'test/crash/**/*.test.ts', 'test/client/**/*.test.ts']
const globalSetup = ['test/support/global-setup.ts']
const leftOut = process.env['TEST_QUICK'] === undefined ? [] : leftOutOfQuick.map(([files]) => files)
const slowness = await measureSlowness()

export default defineConfig({
  test: {
    // On two cores a third worker only makes the others slower; Postgres needs its share as well.
    maxWorkers: 2,
    // Bounds for a hang, not for slowness: most tests take a second on an idle machine. The tests' own go through `patience`.
    testTimeout: 150_000 * slowness,
    hookTimeout: 150_000 * slowness,
    expect: { poll: { timeout: 30_000 * slowness } },
    env: { [slownessVariable]: String(slowness) },
    sequence: { sequencer: LongestFirst },
    // A worker keeps its modules and databases from file to file: to load and start them anew takes seconds.
    isolate: false,
    // Workers that fail on purpose log to the console by default; it is shown for tests that fail.
    silent: 'passed-only',
    reporters: ['default', './test/support/summary-reporter.ts'],
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          // Whatever no other project takes, so that no test file is forgotten.
          include: ['test/**/*.test.ts', 'scripts/**/*.test.ts'],
          exclude: [...engine, ...asApplication, ...databases, ...connections, ...leftOut],
        },
      },
      {
        extends: true,
        test: {
          name: 'embedded',
          include: engine,
          exclude: leftOut,
          provide: { backend: 'embedded' },
          setupFiles: ['test/support/prepare-embedded.ts'],
        },
      },
      {
        extends: true,
        test: { name: 'postgres', include: engine, provide: { backend: 'postgres' }, globalSetup },
      },
      {
        extends: true,
        test: {
          name: 'http',
          include: overHttp,
          provide: { backend: 'postgres', overHttp: true },
          globalSetup,
        },
      },
      {
        extends: true,
        test: {
          name: 'application',
          include: asApplication,
          provide: { backend: 'postgres', asApplication: true },
          globalSetup,
        },
      },
      {
        extends: true,
        test: { name: 'sql', include: databases, exclude: engine, globalSetup },
      },
      {
        extends: true,
        test: { name: 'races', include: connections, provide: { backend: 'postgres' }, globalSetup },
      },
    ],
  },
})
