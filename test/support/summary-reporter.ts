// The last line of a run, for programs that read it: `N passed, N failed`. A file that could not be loaded and an error
// outside of any test count as one failure each, so the line never reports less than the exit code.
import type { Reporter, TestModule } from 'vitest/node'

export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()])
    const passed = tests.filter((test) => test.result().state === 'passed').length
    const failed = tests.filter((test) => test.result().state === 'failed').length
    const brokenGroups = modules.flatMap((module) => [module, ...module.children.allSuites()])
    const errors = brokenGroups.flatMap((group) => group.errors()).length + unhandledErrors.length
    console.log(`${passed} passed, ${failed + errors} failed`)
  }
}
