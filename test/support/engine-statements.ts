import { allStatements, type Statement } from '../../src/sql/statement.ts'

/** The engine's own, of the modules loaded so far: tests that ran before in this worker have declared some too. */
export function engineStatements(): readonly Statement[] {
  return allStatements().filter(({ name }) => !name.startsWith('test.'))
}
