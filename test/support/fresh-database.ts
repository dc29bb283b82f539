import type { Sql } from '../../src/sql/sql.ts'

/** A migrated, empty database for one test. */
export interface FreshDatabase {
  readonly sql: Sql
  /**
   * A handle with the rights of the schema's owner, which tests need to move the clock. Equal to `sql` unless `sql` has
   * another role.
   */
  readonly owner: Sql
  readonly url: string
  /** Prepares the database for the next test; returns what this test left behind, as sentences. */
  end(): Promise<string[]>
  /** Drops the database. */
  discard(): Promise<string[]>
}
