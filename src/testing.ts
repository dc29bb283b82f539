// `flowfabric/testing`: tests of durable code that control time and crashes.
export { testEngine, type TestEngine, type TestEngineOptions, type TestRun } from './testing/test-engine.ts'
export { RunHistory, type ExpectedStep, type RecordedStep } from './testing/run-history.ts'
export type { MockedWork } from './testing/mocks.ts'
