// The connection of a transaction that the caller owns: a client of `pg`, a transaction of Drizzle on one, or a
// transaction of Kysely. No statement is prepared by name on it, and its settings do not change.
import { decoderOf } from './decode.ts'
import type { EncodedValue } from './encode.ts'
import { DatabaseError } from './errors.ts'
import { normalise } from './normalise.ts'
import type { Columns } from './statement.ts'

/** A client of `pg` in a transaction, or the transaction of Drizzle or Kysely. */
export type TransactionClient = object

export interface BorrowedClient {
  /** The connection, whatever wraps it. Calls on one connection run one after the other. */
  readonly identity: object
  query(text: string, values: readonly EncodedValue[], row: Columns): Promise<unknown[]>
}

export function borrowClient(given: TransactionClient): BorrowedClient {
  if (isKysely(given)) return fromKysely(given)
  const drizzle = drizzleClient(given)
  if (drizzle !== undefined) return fromPg(drizzle)
  if (isPg(given)) return fromPg(given)
  throw notBorrowable('the client is of an unknown kind')
}

interface PgLike {
  query(config: object): Promise<{ readonly rows: unknown[] }>
  readonly totalCount?: number
}

function isPg(given: object): given is PgLike {
  return 'query' in given && typeof given.query === 'function'
}

function fromPg(client: object): BorrowedClient {
  if (!isPg(client)) throw notBorrowable('its driver is not pg')
  // A pool has several connections, and none of them has the caller's transaction.
  if (client.totalCount !== undefined) throw notBorrowable('the client is a pool, or uses one')
  const types = { getTypeParser: decoderOf }
  return {
    identity: client,
    query: async (text, values) => (await client.query({ text, values: [...values], types })).rows,
  }
}

/** Undefined when the client is not of Drizzle. */
function drizzleClient(given: object): object | undefined {
  if (!('execute' in given) || !('_' in given)) return undefined
  const { session } = (given._ ?? {}) as { session?: { client?: unknown } }
  const client = session?.client
  return (typeof client === 'object' || typeof client === 'function') && client !== null ? client : undefined
}

interface KyselyLike {
  readonly isTransaction: boolean
  withoutPlugins(): KyselyLike
  executeQuery(query: object): Promise<{ readonly rows: unknown[] }>
}

function isKysely(given: object): given is KyselyLike {
  return 'executeQuery' in given && 'isTransaction' in given && 'withoutPlugins' in given
}

// The application configures this driver, so its rows are converted to our form. A plugin may rename columns.
function fromKysely(given: KyselyLike): BorrowedClient {
  if (!given.isTransaction) throw notBorrowable('the client is not in a transaction')
  const plain = given.withoutPlugins()
  return {
    identity: given,
    query: async (sql, parameters, row) => {
      const query = { kind: 'RawNode', sqlFragments: [sql], parameters: [] }
      const { rows } = await plain.executeQuery({ sql, parameters, query, queryId: { queryId: 'flowfabric' } })
      return rows.map((found) => normalise(row, found as Readonly<Record<string, unknown>>))
    },
  }
}

function notBorrowable(why: string): DatabaseError {
  return new DatabaseError(
    'no_transaction',
    `This call needs a client in an open transaction, but ${why}`,
    'Pass the pg client on which you sent begin, or the transaction that Drizzle or Kysely passes to your function.',
  )
}
