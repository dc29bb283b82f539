// Embedded databases that are emptied and reused. A copy of a migrated one takes 400 ms, a fresh schema 40 ms and cold
// plans, and emptying a few ms (measured).
import type { EmbeddedSql } from '../../src/sql/pglite.ts'
import { openMigrated } from '../../src/testing/database.ts'
import { empty } from '../../src/testing/empty.ts'
import type { FreshDatabase } from './fresh-database.ts'
import { readShape, refuseSeeds } from './shape.ts'

interface Embedded {
  readonly sql: EmbeddedSql
  readonly shape: string
}

const idle: Embedded[] = []

export async function freshEmbedded(): Promise<FreshDatabase> {
  const embedded = idle.pop() ?? (await open())
  return {
    sql: embedded.sql,
    owner: embedded.sql,
    url: 'memory:',
    end: () => takeBack(embedded),
    discard: () => discard(embedded),
  }
}

/** Starts one before the tests, so that the first test does not run out of time. */
export async function prepareEmbedded(): Promise<void> {
  if (idle.length === 0) idle.push(await open())
}

async function open(): Promise<Embedded> {
  const sql = await openMigrated()
  await refuseSeeds(sql.pglite)
  return { sql, shape: await readShape(sql.pglite) }
}

async function takeBack(embedded: Embedded): Promise<string[]> {
  const { pglite } = embedded.sql
  const isAsNew = !pglite.closed && (await readShape(pglite)) === embedded.shape
  if (!isAsNew) return discard(embedded)
  await empty(pglite)
  idle.push(embedded)
  return []
}

async function discard({ sql }: Embedded): Promise<string[]> {
  await sql.close()
  return []
}
