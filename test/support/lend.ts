// A test's own handle on a pool that outlives the test. It behaves like any other pool and closes at the end of the test:
// it waits for the calls in progress, and refuses later ones.
import { DatabaseError } from '../../src/sql/errors.ts'
import type { Sql } from '../../src/sql/sql.ts'

export interface Loan {
  readonly sql: Sql
  /** Whether the next test can reuse the pool: the test neither closed it nor listened on it. */
  end(): Promise<boolean>
}

export function lend(pool: Sql): Loan {
  const underWay = new Set<Promise<unknown>>()
  let isOver = false
  let isAsNew = true

  function during<T>(work: () => Promise<T>): Promise<T> {
    if (isOver)
      throw new DatabaseError('closed', 'The database handle was used after its test', 'Await it in the test.')
    const done = work()
    underWay.add(done)
    const forget = (): void => void underWay.delete(done)
    done.then(forget, forget)
    return done
  }

  const sql: Sql = {
    kind: pool.kind,
    schema: pool.schema,
    query: async (statement, values) => during(() => pool.query(statement, values)),
    script: async (text) => during(() => pool.script(text)),
    pipeline: async (calls, options) => during(() => pool.pipeline(calls, options)),
    decide: async (reads, decide, options) => during(() => pool.decide(reads, decide, options)),
    transaction: async (work) => during(() => pool.transaction(work)),
    reserved: {
      query: async (statement, values) => during(() => pool.reserved.query(statement, values)),
      pipeline: async (calls, options) => during(() => pool.reserved.pipeline(calls, options)),
    },
    async listen(channel, onHint) {
      isAsNew = false
      return during(() => pool.listen(channel, onHint))
    },
    async close(withinMs) {
      isAsNew = false
      await pool.close(withinMs)
    },
  }

  return {
    sql,
    async end() {
      isOver = true
      await Promise.allSettled(underWay)
      return isAsNew
    },
  }
}
