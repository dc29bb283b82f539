// Applications with their own tables and transactions, on the common database clients.
import { drizzle } from 'drizzle-orm/node-postgres'
import { sql as drizzleSql } from 'drizzle-orm'
import { CamelCasePlugin, Kysely, PostgresDialect, sql as kyselySql } from 'kysely'
import pg from 'pg'
import { beforeAll, inject } from 'vitest'
import { connect } from '../../src/connect/connect.ts'
import type { FlowFabric } from '../../src/connect/flowfabric.ts'
import type { TransactionClient } from '../../src/sql/borrowed-client.ts'
import { createDatabase } from '../support/database.ts'

export let url = ''
export let ff: FlowFabric
export let pool: pg.Pool

/** A database for the file that calls this. The import cannot create it: modules are kept from file to file. */
export function prepareApplications(): void {
  beforeAll(async () => {
    const server = inject('postgres')
    const database = await createDatabase(server.url, undefined, server.template)
    url = database.url
    ff = await connect(url)
    pool = new pg.Pool({ connectionString: url, max: 4 })
    // `end` resolves before the server has closed the connections, and the drop of the database terminates the remaining ones.
    pool.on('connect', (client) => client.on('error', () => {}))
    await pool.query('create table orders (id int primary key)')
    return async () => {
      await ff.close()
      await pool.end()
      await database.drop()
    }
  })
}

interface Application {
  /** Runs the work in a transaction, beside an insert of its own; rolled back when the work throws. */
  transaction<T>(order: number, work: (tx: TransactionClient) => Promise<T>): Promise<T>
}

export const withPg: Application = {
  async transaction(order, work) {
    const client = await pool.connect()
    try {
      await client.query('begin')
      await client.query('insert into orders values ($1)', [order])
      const result = await work(client)
      await client.query('commit')
      return result
    } catch (error) {
      await client.query('rollback')
      throw error
    } finally {
      client.release()
    }
  },
}

const withDrizzle: Application = {
  transaction: (order, work) =>
    drizzle(pool).transaction(async (tx) => {
      await tx.execute(drizzleSql`insert into orders values (${order})`)
      return work(tx)
    }),
}

// Not destroyed: the pool is shared.
const withKysely: Application = {
  transaction: (order, work) =>
    new Kysely<object>({ dialect: new PostgresDialect({ pool }), plugins: [new CamelCasePlugin()] })
      .transaction()
      .execute(async (tx) => {
        await kyselySql`insert into orders values (${order})`.execute(tx)
        return work(tx)
      }),
}

export const applications = [
  ['pg', withPg],
  ['Drizzle', withDrizzle],
  ['Kysely', withKysely],
] as const

export const worker = { workerId: 'w', workerInstanceId: 'w-1' }
let lastOrder = 0
export const nextOrder = (): number => (lastOrder += 1)

export async function isOrdered(order: number): Promise<boolean> {
  const { rowCount } = await pool.query('select from orders where id = $1', [order])
  return rowCount === 1
}
