// Moves the database's clock, the only one that decides. The function itself is replaced, so every connection and
// every child process reads the new time with its next statement.
import { parseDuration } from '../../src/model/duration.ts'
import type { Duration } from '../../src/model/duration.ts'
import type { Sql } from '../../src/sql/sql.ts'
import { statement } from '../../src/sql/statement.ts'

const readClock = statement({
  name: 'test.clock.read',
  params: {},
  row: { now_ms: 'int8' },
  text: 'select flowfabric.ff_now_ms() as now_ms',
})

const readDefinition = statement({
  name: 'test.clock.definition',
  params: {},
  row: { definition: 'text' },
  text: `select pg_get_functiondef('flowfabric.ff_now_ms()'::regprocedure) as definition`,
})

const realTime = 'floor(extract(epoch from clock_timestamp()) * 1000)::bigint'

export class Clock {
  readonly #sql: Sql
  #original: string | undefined
  #base = realTime
  #offsetMs = 0

  constructor(sql: Sql) {
    this.#sql = sql
  }

  async now(): Promise<number> {
    const [row] = await this.#sql.query(readClock, {})
    return row!.now_ms
  }

  async advance(duration: Duration): Promise<void> {
    this.#offsetMs += parseDuration('clock.advance', duration)
    await this.#replace()
  }

  /** As if an operator had set the clock, or after a failover to a server whose clock is behind. */
  async setBack(duration: Duration): Promise<void> {
    this.#offsetMs -= parseDuration('clock.setBack', duration)
    await this.#replace()
  }

  /** Stops the clock until it is advanced, for events in the same millisecond. */
  async freeze(): Promise<void> {
    this.#base = `${await this.now()}::bigint`
    this.#offsetMs = 0
    await this.#replace()
  }

  /** Stops the clock at a calendar time: `freezeAt('2026-03-08T06:59:00Z')`. */
  async freezeAt(instant: string): Promise<void> {
    this.#base = `${Date.parse(instant)}::bigint`
    this.#offsetMs = 0
    await this.#replace()
  }

  /** Restores the function of the migration. */
  async reset(): Promise<void> {
    if (this.#original === undefined) return
    await this.#sql.script(this.#original)
    this.#original = undefined
    this.#base = realTime
    this.#offsetMs = 0
  }

  // Stable and simple enough for the planner to inline, like the original: moving the time must not change a plan.
  async #replace(): Promise<void> {
    const [found] = await this.#sql.query(readDefinition, {})
    this.#original ??= found!.definition
    await this.#sql.script(
      `create or replace function flowfabric.ff_now_ms() returns bigint
         language sql stable parallel safe
         as $$ select ${this.#base} + ${this.#offsetMs} $$`,
    )
  }
}
