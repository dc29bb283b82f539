// What the configuration and the global setup hand to every test file; read with vitest's `inject`.
declare module 'vitest' {
  interface ProvidedContext {
    /** Where `setup()` runs the engine. Only the projects `embedded` and `postgres` have one; default: embedded. */
    readonly backend: 'embedded' | 'postgres'
    /** `setup()` puts a server before the database, and gives the engine of its client. */
    readonly overHttp: boolean
    /** `setup()` runs the engine as a role that does not own the schema and has the rights of `migrate --grant-to`. */
    readonly asApplication: boolean
    readonly postgres: ProvidedPostgres
  }
}

export interface ProvidedPostgres {
  /** Of the maintenance database of the run's one server. */
  readonly url: string
  /** A database with the whole schema, to be copied. */
  readonly template: string
  /** A role that may work with the template's schema, and its password. */
  readonly application: string
}
