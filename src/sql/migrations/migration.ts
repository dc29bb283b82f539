/** One step of the schema. From the first release on it never changes; a later migration corrects its mistakes. */
export interface Migration {
  readonly version: number
  readonly name: string
  /** The oldest version of this package that works with the schema afterwards. */
  readonly oldestCode: string
  /**
   * False for statements that Postgres refuses inside a transaction, such as `create index concurrently`. After a crash
   * the file runs again from its beginning, so each of its statements must be repeatable (`if not exists`). An index
   * that an interrupted build left invalid is dropped before.
   */
  readonly transactional: boolean
  readonly text: string
}

/**
 * Until the first release, version 1 is rewritten freely, and a database with an older version 1 has to be recreated.
 */
export const released: boolean = false
