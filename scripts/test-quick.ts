// npm run test:quick
// The tests for daily work: pure code, and the engine on the embedded database. Everything else needs Postgres, and is run by
// `npm test`, as are the files below.
import { spawn } from 'node:child_process'

/** Each with the reason why it takes long. */
const leftOut = [
  ['test/package/**', 'packs and installs the package'],
  ['test/testing/runners.test.ts', 'starts other test runners'],
  ['test/cli/{serve,process,work}.test.ts', 'compiles the binary and starts processes'],
  ['test/deploy/**', 'starts processes'],
  ['test/worker/thread.test.ts', 'starts threads'],
  ['test/worker/random-code.test.ts', 'runs random programs'],
  ['test/server/{fuzz,namespace,approval-browser}.test.ts', 'sends thousands of requests, or starts a browser'],
  ['test/engine/flow/random-dags.test.ts', 'runs random flows'],
  ['test/conformance/**', 'calls every operation on every kind of engine'],
] as const

const excluded = leftOut.flatMap(([files]) => ['--exclude', files])
const vitest = spawn(
  'npx',
  ['vitest', 'run', '--project', 'unit', '--project', 'embedded', ...excluded, ...process.argv.slice(2)],
  { stdio: 'inherit' },
)
vitest.on('exit', (code) => {
  process.exitCode = code ?? 1
})
