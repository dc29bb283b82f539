// Starts long files first. A file that takes a minute and starts last keeps one core busy while the others are idle. So the
// projects with the longest files come first, and of each project its longest; the many short files fill up the end. Files of
// one project stay together, because a worker serves one project and loses its loaded modules with it.
import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const projects = ['sql', 'races', 'unit', 'embedded', 'http', 'postgres']

/** Files that take more than some seconds; the order of the others does not matter. */
const longest = [
  'test/examples/examples.test.ts',
  'test/connect/embedded-upkeep.test.ts',
  'test/sql/pglite.test.ts',
  'test/connect/embedded.test.ts',
  'test/support/postgres.test.ts',
  'test/races/pairs.test.ts',
  'test/races/flow-pairs.test.ts',
  'test/crash/durable.test.ts',
  'test/crash/killed-server.test.ts',
  'test/crash/killed-worker.test.ts',
  'test/package/init.test.ts',
  'test/testing/test-engine.test.ts',
  'test/testing/runners.test.ts',
  'test/cli/serve.test.ts',
  'test/cli/process.test.ts',
  'test/worker/thread.test.ts',
  'test/worker/lifecycle.test.ts',
  'test/server/fuzz.test.ts',
]

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const root = this.ctx.config.root
    const place = ({ project, moduleId }: TestSpecification): number => {
      const found = longest.indexOf(relative(root, moduleId))
      return projects.indexOf(project.name) * 1000 + (found === -1 ? longest.length : found)
    }
    return files.toSorted((a, b) => place(a) - place(b))
  }
}
