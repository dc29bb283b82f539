import type { Sql } from '../../src/sql/sql.ts'

/** A migrated, empty database that one test has for itself. */
export interface FreshDatabase {
  readonly sql: Sql
  readonly url: string
  /** Closes or clears it; answers what the test left behind, in words. */
  end(): Promise<string[]>
}
