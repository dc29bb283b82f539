// The files that `npm run test:quick` leaves to `npm test`.

/** Each with the reason why it takes long. */
export const leftOutOfQuick = [
  ['test/package/**', 'packs and installs the package'],
  ['test/testing/runners.test.ts', 'starts other test runners'],
  ['test/testing/test-engine.test.ts', 'starts many engines'],
  ['test/worker/lifecycle.test.ts', 'starts and stops many workers'],
  ['test/cli/{serve,process,work,usage,doctor}.test.ts', 'compiles the binary and starts processes'],
  ['test/deploy/**', 'starts processes'],
  ['test/worker/thread.test.ts', 'starts threads'],
  ['test/worker/random-code.test.ts', 'runs random programs'],
  ['test/server/{fuzz,namespace,approval-browser}.test.ts', 'sends thousands of requests, or starts a browser'],
  ['test/engine/flow/random-dags.test.ts', 'runs random flows'],
  ['test/conformance/**', 'calls every operation on every kind of engine'],
] as const
