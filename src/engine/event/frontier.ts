// How far the log is decided. Ids are drawn before the commit, so a lower id may become visible after a higher one, or,
// when its transaction was rolled back, never. A reader that takes only the visible events would lose some.
//
// Every id below `next` is decided: read, or known never to appear. A row that follows without a gap is decided at
// once. At a gap the reader takes a barrier: a transaction id of its own, and the last id of the log, read before it. A
// transaction that drew an id up to that one had its transaction id already (an event is written after another row of
// its transaction), hence a lower one than the barrier's. When the oldest transaction that a statement's snapshot saw
// running is not older than the barrier, all of those are over: an id up to the barrier that the snapshot does not show
// will never appear.
//
// The barrier must be assigned, not read: the upper bound of a snapshot is one above the last ended transaction, and
// running transactions may be beyond it.
import type { Sql } from '../../sql/sql.ts'
import { statement, type RowOf } from '../../sql/statement.ts'
import { eventColumns, eventRow } from './log-event.ts'

const readRow = { ...eventRow, tags: 'jsonb?', oldest_running: 'int8' } as const

/** `tags` is null when they were not selected. */
export type ReadRow = RowOf<typeof readRow>

// The oldest running transaction belongs to the same snapshot as the rows.
const readPage = statement({
  name: 'event.read',
  params: { next: 'int8', with_tags: 'bool', limit: 'int8' },
  row: readRow,
  text: `
select ${eventColumns},
  case when $2 then coalesce(
    (select jsonb_object_agg(t.tag_key, t.tag_value) from flowfabric.ff_exec_tag t where t.execution_id = e.execution_id),
    '{}') end as tags,
  (select pg_snapshot_xmin(pg_current_snapshot())::text::int8) as oldest_running
from flowfabric.ff_event e
where e.event_id >= $1
order by e.event_id
limit $3`,
})

const readOldestRunning = statement({
  name: 'event.oldest-running',
  params: {},
  row: { oldest_running: 'int8' },
  text: `select pg_snapshot_xmin(pg_current_snapshot())::text::int8 as oldest_running`,
})

// The sequence is read first, then the transaction id is assigned: the columns are computed from the row that was read.
const takeBarrier = statement({
  name: 'event.barrier',
  params: {},
  row: { last_id: 'int8', transaction_id: 'int8' },
  text: `
select last_value - (not is_called)::int as last_id, pg_current_xact_id()::text::int8 as transaction_id
from flowfabric.ff_event_id`,
})

// The ids from one on that are not visible, within a window, as ranges. Ids beyond the last one are new.
const readMissing = statement({
  name: 'event.missing',
  params: { from: 'int8', window: 'int8' },
  row: { first_id: 'int8', last_id: 'int8', missing_from: 'int8[]', missing_to: 'int8[]', oldest_running: 'int8' },
  text: `
with log as materialized (
  select greatest($1, last_value - (not is_called)::int - $2 + 1) as first_id,
    last_value - (not is_called)::int as last_id
  from flowfabric.ff_event_id
),
seen as (
  select e.event_id
  from log
  cross join lateral (
    select event_id
    from flowfabric.ff_event
    where event_id >= log.first_id and event_id <= log.last_id
    offset 0
  ) e
  union all
  select greatest(log.last_id + 1, log.first_id)
  from log
),
step as (
  select seen.event_id, lag(seen.event_id) over (order by seen.event_id) as before
  from seen
),
missing as materialized (
  select coalesce(step.before + 1, log.first_id) as from_id, step.event_id - 1 as to_id
  from log
  cross join step
  where step.event_id > coalesce(step.before + 1, log.first_id)
)
select log.first_id, log.last_id,
  array(select from_id from missing order by from_id) as missing_from,
  array(select to_id from missing order by from_id) as missing_to,
  pg_snapshot_xmin(pg_current_snapshot())::text::int8 as oldest_running
from log`,
})

export interface Range {
  readonly from: number
  readonly to: number
}

/**
 * The part of the log that a new reader has not missed: the ids after `lastId`, and those of `missing` that may still
 * appear.
 */
export interface Tail {
  readonly lastId: number
  readonly missing: readonly Range[]
}

interface Barrier {
  readonly lastId: number
  readonly transactionId: number
}

// How far before the end of the log a new reader searches for events in flight, and how far a running one searches past
// the first undecided id.
const startWindow = 10_000
const tailWindow = 1_000_000
const pageSize = 512

export class Frontier {
  readonly #sql: Sql
  /** Up to here every id is decided, whether it is visible or not. */
  #settled = 0
  #next = 1
  #decidedFrom = 0
  #barrier: Barrier | null = null
  #isBlocked = false

  private constructor(sql: Sql) {
    this.#sql = sql
  }

  /** Opens at the end of the log, or at the first id of the window that may still appear. */
  static async open(sql: Sql): Promise<Frontier> {
    const frontier = new Frontier(sql)
    frontier.#barrier = await frontier.#takeBarrier()
    const { first_id: firstId, oldest_running: oldestRunning, tail } = await frontier.#lookBack(1, startWindow)
    frontier.#decidedFrom = firstId === 1 ? 0 : firstId
    frontier.#settle(oldestRunning)
    const open = tail.missing.find((range) => range.to > frontier.#settled)
    frontier.#next = open === undefined ? tail.lastId + 1 : Math.max(open.from, frontier.#settled + 1)
    return frontier
  }

  /** Every id below it is decided, except those below `decidedFrom`. */
  get next(): number {
    return this.#next
  }

  /**
   * Zero, unless a transaction is running that was running at the start: then ids older than the window are undecided.
   */
  get decidedFrom(): number {
    return this.#decidedFrom
  }

  async tail(): Promise<Tail> {
    return (await this.#lookBack(this.#next, tailWindow)).tail
  }

  /**
   * The events that are decided now, in order. Blocked: the next event is visible, and an id before it is undecided.
   */
  async read(withTags: boolean): Promise<{ rows: readonly ReadRow[]; isBlocked: boolean; isFull: boolean }> {
    // Every call that can fail comes before the state changes, so that a failed read can be repeated.
    if (this.#isBlocked) this.#barrier ??= await this.#takeBarrier()
    const page = await this.#sql.query(readPage, { next: this.#next, with_tags: withTags, limit: pageSize })
    const [first] = page
    if (first === undefined) await this.#settleStart()
    else this.#settle(first.oldest_running)
    const rows = this.#takeDecided(page)
    this.#isBlocked = rows.length < page.length
    return { rows, isBlocked: this.#isBlocked, isFull: rows.length === pageSize }
  }

  #takeDecided(page: readonly ReadRow[]): ReadRow[] {
    const rows: ReadRow[] = []
    for (const row of page) {
      const isDecided = row.event_id === this.#next || row.event_id - 1 <= this.#settled
      if (!isDecided) {
        this.#next = Math.max(this.#next, this.#settled + 1)
        break
      }
      rows.push(row)
      this.#next = row.event_id + 1
    }
    return rows
  }

  // This snapshot is later than the page, which was empty: the ids that it decides count from the next page on.
  async #settleStart(): Promise<void> {
    if (this.#barrier === null) return
    const [row] = await this.#sql.query(readOldestRunning, {})
    this.#settle(row!.oldest_running)
  }

  #settle(oldestRunning: number): void {
    if (this.#barrier === null || oldestRunning < this.#barrier.transactionId) return
    this.#settled = Math.max(this.#settled, this.#barrier.lastId)
    this.#barrier = null
    this.#decidedFrom = 0
  }

  async #takeBarrier(): Promise<Barrier> {
    const [row] = await this.#sql.query(takeBarrier, {})
    return { lastId: row!.last_id, transactionId: row!.transaction_id }
  }

  async #lookBack(from: number, window: number) {
    const [row] = await this.#sql.query(readMissing, { from, window })
    const { missing_from: starts, missing_to: ends, last_id: lastId } = row!
    const missing = starts.map((start, index) => ({ from: start, to: ends[index]! }))
    return { ...row!, tail: { lastId, missing } }
  }
}
