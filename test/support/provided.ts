// Values that the configuration and the global setup pass to every test file; read with vitest's `inject`.
declare module 'vitest' {
  interface ProvidedContext {
    /** Where `setup()` runs the engine. Only the projects `embedded` and `postgres` set it; default: embedded. */
    readonly backend: 'embedded' | 'postgres'
    /** `setup()` starts a server in front of the database, and returns the engine of a client of it. */
    readonly overHttp: boolean
    /** `setup()` runs the engine as a role that does not own the schema and has the rights of `migrate --grant-to`. */
    readonly asApplication: boolean
    readonly postgres: ProvidedPostgres
  }
}

export interface ProvidedPostgres {
  /** The maintenance database of the run's one server. */
  readonly url: string
  /** A database with the whole schema, to be copied. */
  readonly template: string
  /** A role with rights on the template's schema, and its password. */
  readonly application: string
}
