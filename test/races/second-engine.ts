import { onTestFinished } from 'vitest'
import { createEngine } from '../../src/engine/engine.ts'
import type { Engine } from '../../src/engine/contract.ts'
import { openPostgres } from '../../src/sql/postgres.ts'

/** Like another process, as far as the database can see: its own connections and caches. */
export async function secondEngine(url: string): Promise<Engine> {
  const sql = await openPostgres({ url, schema: 'flowfabric' })
  onTestFinished(() => sql.close())
  return createEngine(sql)
}

export function engines(url: string, count: number): Promise<Engine[]> {
  return Promise.all(Array.from({ length: count }, () => secondEngine(url)))
}
