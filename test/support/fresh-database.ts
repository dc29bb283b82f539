import type { Sql } from '../../src/sql/sql.ts'

/** A migrated, empty database that one test has for itself. */
export interface FreshDatabase {
  readonly sql: Sql
  /** As the owner of the schema, which tests need to move the clock; `sql` itself unless that one is another role's. */
  readonly owner: Sql
  readonly url: string
  /** Makes it ready for the next test; answers what this one left behind, in words. */
  end(): Promise<string[]>
  /** Throws it away. */
  discard(): Promise<string[]>
}
