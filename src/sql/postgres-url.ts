// A Postgres URL, without our own parameters. The driver reads all others (sslmode, application_name, host=/socket).
import pg from 'pg'
import { DatabaseError } from './errors.ts'
import { withoutPassword } from './without-password.ts'

export interface PostgresUrl {
  readonly connectionString: string
  /** `options=...`, kept apart, because the driver would let it replace ours. */
  readonly serverOptions: string
  readonly prepare: boolean | undefined
}

export function parsePostgresUrl(url: string): PostgresUrl {
  if (!/^postgres(ql)?:\/\//.test(url)) throw badUrl(url, 'it must start with postgres:// or postgresql://')
  const [address, query] = split(url)
  const parameters = new URLSearchParams(query)
  const prepare = parameters.get('prepare')
  const serverOptions = parameters.get('options') ?? ''
  if (prepare !== null && prepare !== 'true' && prepare !== 'false') throw badUrl(url, 'prepare must be true or false')
  parameters.delete('prepare')
  parameters.delete('options')
  const rest = parameters.toString()
  const connectionString = rest === '' ? address : `${address}?${rest}`
  try {
    // The driver reads the URL when a client is made, long before it connects.
    void new pg.Client({ connectionString })
  } catch (error) {
    throw badUrl(url, (error as Error).message, error)
  }
  return { connectionString, serverOptions, prepare: prepare === null ? undefined : prepare === 'true' }
}

function split(url: string): [string, string] {
  const mark = url.indexOf('?')
  return mark === -1 ? [url, ''] : [url.slice(0, mark), url.slice(mark + 1)]
}

function badUrl(url: string, why: string, cause?: unknown): DatabaseError {
  return new DatabaseError(
    'bad_url',
    `The database URL ${withoutPassword(url)} cannot be parsed: ${why}`,
    'Use the form postgres://user:password@host:5432/database, and encode special characters of the password as %XX.',
    cause,
  )
}
