import { allStatements, type Statement } from '../../src/sql/statement.ts'

/**
 * The engine's own statements, of the modules loaded so far; tests that ran before in this worker have declared others.
 */
export function engineStatements(): readonly Statement[] {
  return allStatements().filter(({ name }) => !name.startsWith('test.'))
}
