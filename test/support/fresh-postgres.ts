// Databases copied from the run's template. This worker empties and reuses them, with the tests' pool and a keeper
// connection. A new session reads the catalogue and plans every statement again (measured: 150 ms of a test that creates one
// execution; 20 ms in a warm session).
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
  /** A handle with the rights of the schema's owner; the pool itself unless the pool has another role. */
  readonly owner: Sql
}

// Distinguishes the pool's connections from those that a test has left open.
const poolName = 'flowfabric test pool'

// A worker runs files of several projects.
const idle = { ofOwner: [] as Copy[], ofApplication: [] as Copy[] }

export async function freshPostgres(): Promise<FreshDatabase> {
  const copy = idle[inject('asApplication') ? 'ofApplication' : 'ofOwner'].pop() ?? (await makeCopy())
  const loan = lend(copy.pool)
  const isOwner = copy.owner === copy.pool
  return {
    sql: loan.sql,
    owner: isOwner ? loan.sql : copy.owner,
    url: isOwner ? copy.database.url : asApplication(copy.database),
    end: () => takeBack(copy, loan),
    discard: () => discard(copy),
  }
}

async function makeCopy(): Promise<Copy> {
  const { url, template } = inject('postgres')
  const database = await createDatabase(url, `${template}_${randomBytes(6).toString('hex')}`, template)
  const keeper = await connect(database.url)
  const pool = await openPool(database.url)
  const copy = { database, shape: await readShape(keeper), keeper, pool, owner: pool }
  return inject('asApplication') ? { ...copy, pool: await openPool(asApplication(database)) } : copy
}

function asApplication(database: Database): string {
  const { application } = inject('postgres')
  const url = new URL(database.url)
  url.username = application
  url.password = application
  return url.href
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
  if (copy.owner === copy.pool) {
    const pool = isPoolAsNew ? copy.pool : await openPool(copy.database.url)
    idle.ofOwner.push({ ...copy, keeper, pool, owner: pool })
  } else {
    const pool = isPoolAsNew ? copy.pool : await openPool(asApplication(copy.database))
    idle.ofApplication.push({ ...copy, keeper, pool })
  }
  return []
}

async function discard({ database, keeper, pool, owner }: Copy): Promise<string[]> {
  await pool.close()
  if (owner !== pool) await owner.close()
  await keeper.end()
  await database.drop()
  return []
}

function openPool(of: string): Promise<Sql> {
  const url = new URL(of)
  url.searchParams.set('application_name', poolName)
  return openPostgres({ url: url.href, schema: 'flowfabric' })
}

/** Returns the keeper, or a new one: a test may have ended every session. */
async function stillConnected({ keeper, database }: Copy): Promise<pg.Client> {
  const isConnected = await keeper.query('select').then(
    () => true,
    () => false,
  )
  return isConnected ? keeper : connect(database.url)
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: 'flowfabric test keeper' })
  client.on('error', () => {})
  await client.connect()
  return client
}
