import type { Sql } from './sql.ts'

/** The same database, with `run` called around every call to it. */
export function around(sql: Sql, run: <T>(call: () => Promise<T>) => Promise<T>): Sql {
  return {
    kind: sql.kind,
    schema: sql.schema,
    query: (statement, values) => run(() => sql.query(statement, values)),
    pipeline: (calls, options) => run(() => sql.pipeline(calls, options)),
    decide: (reads, decide, options) => run(() => sql.decide(reads, decide, options)),
    reserved: {
      query: (statement, values) => run(() => sql.reserved.query(statement, values)),
      pipeline: (calls, options) => run(() => sql.reserved.pipeline(calls, options)),
    },
    script: (text, options) => run(() => sql.script(text, options)),
    transaction: (work, options) => run(() => sql.transaction(work, options)),
    listen: (channel, onHint) => run(() => sql.listen(channel, onHint)),
    close: (withinMs) => run(() => sql.close(withinMs)),
  }
}
