// `flowfabric/testing`: durable code under test, with time and crashes in the test's hands.
export { testEngine, type TestEngine, type TestEngineOptions, type TestRun } from './testing/test-engine.ts'
export { RunHistory, type ExpectedStep, type RecordedStep } from './testing/run-history.ts'
export type { MockedWork } from './testing/mocks.ts'
