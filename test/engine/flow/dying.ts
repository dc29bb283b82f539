// Processes that die around a statement, as far as the database can tell.
import { DatabaseError } from '../../../src/sql/errors.ts'
import type { Queries, Sql } from '../../../src/sql/sql.ts'

/** Before its commit: nothing of it was done. */
export function dyingBefore(sql: Sql): Sql {
  return asking(sql, (statement, values) =>
    sql.transaction(async (tx) => {
      await tx.query(statement, values)
      throw new Error('died')
    }),
  )
}

/** Behind the first commit, before the reply: it was done, and is sent again. */
export function dyingAfterwards(sql: Sql): Sql {
  let isFirst = true
  return asking(sql, async (statement, values) => {
    const answer = await sql.query(statement, values)
    if (!isFirst) return answer
    isFirst = false
    throw new DatabaseError('connection_lost', 'the process died', 'Start another')
  })
}

function asking(sql: Sql, query: Queries['query']): Sql {
  return {
    kind: sql.kind,
    schema: sql.schema,
    aside: sql.aside,
    query,
    pipeline: (calls, options) => sql.pipeline(calls, options),
    decide: (reads, decide, options) => sql.decide(reads, decide, options),
    transaction: (work) => sql.transaction(work),
    script: (text) => sql.script(text),
    listen: (channel, onHint) => sql.listen(channel, onHint),
    close: () => sql.close(),
  }
}
