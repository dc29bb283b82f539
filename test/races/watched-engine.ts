import { onTestFinished } from 'vitest'
import type { Engine } from '../../src/engine/contract.ts'
import { createEngine } from '../../src/engine/engine.ts'
import { sqlState } from '../../src/sql/errors.ts'
import { openPostgres } from '../../src/sql/postgres.ts'
import type { Sql } from '../../src/sql/sql.ts'

export interface WatchedEngine {
  readonly engine: Engine
  readonly sql: Sql
  /**
   * Counts the deadlocks that the database reported. The engine repeats such a statement, and callers do not notice.
   */
  readonly deadlockCount: () => number
}

/** Like another process, as far as the database can see, with watched statements. */
export async function watchedEngine(url: string): Promise<WatchedEngine> {
  const inner = await openPostgres({ url, schema: 'flowfabric' })
  onTestFinished(() => inner.close())
  let deadlocks = 0
  const count = (error: unknown): never => {
    if (sqlState(error) === '40P01') deadlocks += 1
    throw error
  }
  const sql: Sql = {
    kind: inner.kind,
    schema: inner.schema,
    reserved: inner.reserved,
    query: (statement, values) => inner.query(statement, values).catch(count),
    pipeline: (calls, options) => inner.pipeline(calls, options).catch(count),
    decide: (reads, decide, options) => inner.decide(reads, decide, options).catch(count),
    transaction: (work) => inner.transaction(work).catch(count),
    script: (text) => inner.script(text),
    listen: (channel, onHint) => inner.listen(channel, onHint),
    close: () => inner.close(),
  }
  return { engine: createEngine(sql), sql, deadlockCount: () => deadlocks }
}
