// Processes that die around a statement, as far as the database can see.
import { DatabaseError } from '../../../src/sql/errors.ts'
import type { Call, Sql } from '../../../src/sql/sql.ts'

/** Dies before the commit: the statement has no effect. */
export function dyingBefore(sql: Sql): Sql {
  const die = (calls: readonly Call[]): Promise<never> =>
    sql.transaction(async (tx) => {
      for (const { statement, values } of calls) await tx.query(statement, values)
      throw new Error('died')
    })
  return asking(sql, {
    query: (statement, values) => die([{ statement, values }]),
    pipeline: (calls) => die(calls),
    decide: (reads, decide) =>
      sql.transaction(async (tx) => {
        const found: unknown[] = []
        for (const { statement, values } of reads) found.push(await tx.query(statement, values))
        for (const { statement, values } of decide(found as never)) await tx.query(statement, values)
        throw new Error('died')
      }),
  })
}

/** Dies after the first commit, before the reply: the statement took effect, and is sent again. */
export function dyingAfterwards(sql: Sql): Sql {
  let isFirst = true
  const orDie = async <Answer>(answering: Promise<Answer>): Promise<Answer> => {
    const answer = await answering
    if (!isFirst) return answer
    isFirst = false
    throw new DatabaseError('connection_lost', 'the process died', 'Start another')
  }
  return asking(sql, {
    query: (statement, values) => orDie(sql.query(statement, values)),
    pipeline: (calls, options) => orDie(sql.pipeline(calls, options)),
    decide: (reads, decide, options) => orDie(sql.decide(reads, decide, options)),
  })
}

function asking(sql: Sql, { query, pipeline, decide }: Pick<Sql, 'query' | 'pipeline' | 'decide'>): Sql {
  return {
    kind: sql.kind,
    schema: sql.schema,
    reserved: sql.reserved,
    query,
    pipeline,
    decide,
    transaction: (work) => sql.transaction(work),
    script: (text) => sql.script(text),
    listen: (channel, onHint) => sql.listen(channel, onHint),
    close: () => sql.close(),
  }
}
