// The database's clock, stopped until the test moves it. A setting of the one connection holds the time, so that moving
// it changes no plan.
import type { Sql } from '../sql/sql.ts'
import { statement } from '../sql/statement.ts'

const setting = 'flowfabric.test_now_ms'

const set = statement({
  name: 'testing.set-clock',
  params: { now: 'text' },
  row: { now: 'text' },
  text: `
select set_config('${setting}', $1, false) as now`,
})

// Stable, and simple enough to be inlined, like the original.
const replaced = `
create or replace function flowfabric.ff_now_ms() returns bigint
  language sql stable parallel safe
  as $$ select current_setting('${setting}')::bigint $$`

export class VirtualClock {
  readonly #sql: Sql
  #now: number

  private constructor(sql: Sql, now: number) {
    this.#sql = sql
    this.#now = now
  }

  static async standingAt(sql: Sql, now: number): Promise<VirtualClock> {
    const clock = new VirtualClock(sql, now)
    await clock.moveTo(now)
    await sql.script(replaced)
    return clock
  }

  get now(): number {
    return this.#now
  }

  async moveTo(now: number): Promise<void> {
    this.#now = now
    await this.#sql.query(set, { now: String(now) })
  }
}
