// Databases copied from the run's template, emptied and used again by this worker.
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'
import { openPostgres } from '../../src/sql/postgres.ts'
import type { Sql } from '../../src/sql/sql.ts'
import { createDatabase } from './database.ts'
import type { Database } from './database.ts'
import type { FreshDatabase } from './fresh-database.ts'
import { remainingConnections } from './leak.ts'
import { empty } from '../../src/testing/empty.ts'
import { readShape } from './shape.ts'

interface Copy {
  readonly database: Database
  readonly shape: string
}

const idle: Copy[] = []

export async function freshPostgres(): Promise<FreshDatabase> {
  const copy = idle.pop() ?? (await makeCopy())
  const sql = await openPostgres({ url: copy.database.url, schema: 'flowfabric' })
  return {
    sql,
    url: copy.database.url,
    end: () => takeBack(copy, sql),
    discard: () => discard(copy, sql),
  }
}

async function makeCopy(): Promise<Copy> {
  const { url, template } = inject('postgres')
  const database = await createDatabase(url, `${template}_${randomBytes(6).toString('hex')}`, template)
  const client = await connect(database.url)
  const shape = await readShape(client)
  await client.end()
  return { database, shape }
}

async function takeBack(copy: Copy, sql: Sql): Promise<string[]> {
  await sql.close()
  const client = await connect(copy.database.url)
  const left = await remainingConnections(client)
  const isAsNew = left.length === 0 && (await readShape(client)) === copy.shape
  if (isAsNew) {
    await empty(client)
    idle.push(copy)
  }
  await client.end()
  if (!isAsNew) await copy.database.drop()
  return left
}

async function discard(copy: Copy, sql: Sql): Promise<string[]> {
  await sql.close()
  await copy.database.drop()
  return []
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client(url)
  await client.connect()
  return client
}
