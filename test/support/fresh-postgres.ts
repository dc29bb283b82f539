// Databases copied from the run's template, emptied and used again by this worker, with the pool that the tests have and the
// connection that looks after them: a new session reads the catalogue and plans every statement anew (measured: 150 ms
// of a test that creates one execution; 20 ms in sessions that have seen it all).
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'
import { openPostgres } from '../../src/sql/postgres.ts'
import type { Sql } from '../../src/sql/sql.ts'
import { createDatabase } from './database.ts'
import type { Database } from './database.ts'
import type { FreshDatabase } from './fresh-database.ts'
import { remainingConnections } from './leak.ts'
import { lend, type Loan } from './lend.ts'
import { empty } from '../../src/testing/empty.ts'
import { readShape } from './shape.ts'

interface Copy {
  readonly database: Database
  readonly shape: string
  readonly keeper: pg.Client
  readonly pool: Sql
}

// By which its connections are told from those that a test has left behind.
const poolName = 'flowfabric test pool'

const idle: Copy[] = []

export async function freshPostgres(): Promise<FreshDatabase> {
  const copy = idle.pop() ?? (await makeCopy())
  const loan = lend(copy.pool)
  return {
    sql: loan.sql,
    url: copy.database.url,
    end: () => takeBack(copy, loan),
    discard: () => discard(copy),
  }
}

async function makeCopy(): Promise<Copy> {
  const { url, template } = inject('postgres')
  const database = await createDatabase(url, `${template}_${randomBytes(6).toString('hex')}`, template)
  const keeper = await connect(database.url)
  return { database, shape: await readShape(keeper), keeper, pool: await openPool(database) }
}

async function takeBack(copy: Copy, loan: Loan): Promise<string[]> {
  const isPoolAsNew = await loan.end()
  if (!isPoolAsNew) await copy.pool.close()
  const keeper = await stillConnected(copy)
  const left = await remainingConnections(keeper, poolName)
  const isAsNew = left.length === 0 && (await readShape(keeper)) === copy.shape
  if (!isAsNew) {
    await discard({ ...copy, keeper })
    return left
  }
  await empty(keeper)
  idle.push({ ...copy, keeper, pool: isPoolAsNew ? copy.pool : await openPool(copy.database) })
  return []
}

async function discard({ database, keeper, pool }: Copy): Promise<string[]> {
  await pool.close()
  await keeper.end()
  await database.drop()
  return []
}

function openPool(database: Database): Promise<Sql> {
  const url = new URL(database.url)
  url.searchParams.set('application_name', poolName)
  return openPostgres({ url: url.href, schema: 'flowfabric' })
}

/** A test may have cut off everybody. */
async function stillConnected({ keeper, database }: Copy): Promise<pg.Client> {
  const isThere = await keeper.query('select').then(
    () => true,
    () => false,
  )
  return isThere ? keeper : connect(database.url)
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: 'flowfabric test keeper' })
  client.on('error', () => {})
  await client.connect()
  return client
}
