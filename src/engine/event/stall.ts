// How long the reader of the log has waited for one id that it cannot decide. After a minute it logs once which
// transaction it waits for: the oldest that has written something and not ended. A transaction of this database comes
// first, because it may own the missing event; without one it is that of another database, whose end the reader has to
// wait for all the same.
import type { Logger } from '../../sql/logger.ts'
import type { Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'

// A row without a process is a prepared transaction. The queries of other roles are hidden without the right to see
// them.
const readBlocker = statement({
  name: 'event.blocker',
  params: {},
  row: { pid: 'int4?', age_ms: 'int8?', what: 'text?' },
  text: `
select b.pid, floor(extract(epoch from clock_timestamp() - b.began_at) * 1000)::int8 as age_ms, b.what
from (
  select a.pid, a.backend_xid as transaction_id, a.xact_start as began_at,
    concat_ws(': ', nullif(a.application_name, ''), a.state, a.query) as what, a.datname as database
  from pg_stat_activity a
  where a.backend_xid is not null and a.pid <> pg_backend_pid()
  union all
  select null, p.transaction, p.prepared, concat('prepared as ', p.gid), p.database
  from pg_prepared_xacts p
) b
order by b.database = current_database() desc, age(b.transaction_id) desc
limit 1`,
})

export interface StallOptions {
  readonly logger: Logger
  readonly warnAfterMs: number
}

export class Stall {
  readonly #options: StallOptions
  #eventId = 0
  #beganAt: number | null = null
  #isTold = false

  constructor(options: StallOptions) {
    this.#options = options
  }

  get ms(): number {
    return this.#beganAt === null ? 0 : performance.now() - this.#beganAt
  }

  goesOn(): void {
    this.#beganAt = null
    this.#isTold = false
  }

  /** The reader waits for this id. */
  async waitingFor(sql: Sql, eventId: number): Promise<void> {
    if (eventId !== this.#eventId) this.goesOn()
    this.#eventId = eventId
    this.#beganAt ??= performance.now()
    if (this.#isTold || this.ms < this.#options.warnAfterMs) return
    const [blocker] = await sql.query(readBlocker, {})
    this.#isTold = true
    const seconds = Math.round(this.ms / 1000)
    this.#options.logger.warn(
      `event subscribers have been waiting for ${seconds} s: event ${eventId} is pending until ` +
        (blocker === undefined ? 'a transaction that this role cannot see ends' : nameOf(blocker)),
    )
  }
}

function nameOf(blocker: { pid: number | null; age_ms: number | null; what: string | null }): string {
  const who = blocker.pid === null ? 'a transaction' : `the transaction of process ${blocker.pid}`
  const since = blocker.age_ms === null ? '' : `, open for ${Math.round(blocker.age_ms / 1000)} s,`
  const remedy = blocker.pid === null ? '' : `; if it hangs, end it with pg_terminate_backend(${blocker.pid})`
  return `${who}${since} ends (${blocker.what?.slice(0, 500) ?? ''})${remedy}`
}
