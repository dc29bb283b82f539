/** One step of the schema. From the first release on it never changes; what is wrong with it is mended by the next. */
export interface Migration {
  readonly version: number
  readonly name: string
  /** The oldest version of this package that works with the schema afterwards. */
  readonly oldestCode: string
  /**
   * False for what Postgres refuses inside a transaction, such as `create index concurrently`. Such a file is run from its
   * beginning again after a crash, so each of its statements must bear repeating (`if not exists`); an index that an
   * interrupted build left invalid is dropped before.
   */
  readonly transactional: boolean
  readonly text: string
}

/** Until the first release, version 1 is rewritten freely, and a database with an older one is thrown away. */
export const released: boolean = false
