// The effects of time: the duties of a supervisor, each run when one of its timers is due and not at an interval.
import type { Duty } from '../engine/kernel/duty.ts'
import { allDuties } from '../engine/duties/all.ts'
import type { Sql } from '../sql/sql.ts'
import { statement } from '../sql/statement.ts'

// Left out: a test reads ended executions, however much time it lets pass; it has no other workers; the database is
// small.
const leftOut = ['retention', 'worker-expiry', 'log-blocks', 'embedded-upkeep']

const duties = allDuties('embedded').filter((duty) => !leftOut.includes(duty.name))
const timers = duties.flatMap(({ watch }) => watch?.column ?? [])

const readTimers = statement({
  name: 'testing.timers',
  params: { now: 'int8' },
  row: { timer: 'text', is_due: 'bool', next_at_ms: 'int8?' },
  text: timers
    .map((timer) => {
      const [table, column] = timer.split('.')
      return `
select '${timer}' as timer,
  coalesce(bool_or(${column} <= $1), false) as is_due,
  min(${column}) filter (where ${column} > $1) as next_at_ms
from flowfabric.${table}`
    })
    .join('\nunion all'),
})

/** Runs the due duties; returns how many rows they changed. */
export async function runDueDuties(sql: Sql, now: number): Promise<number> {
  const rows = await sql.query(readTimers, { now })
  const isDue = new Map(rows.map((row) => [row.timer, row.is_due]))
  let count = 0
  for (const duty of duties) {
    if (duty.watch !== undefined && isDue.get(duty.watch.column) === true) count += await runUntilDone(duty, sql)
  }
  return count
}

/** The next time after `now` at which a timer is due; null when none is set. */
export async function nextDueAt(sql: Sql, now: number): Promise<number | null> {
  const rows = await sql.query(readTimers, { now })
  const times = rows.flatMap(({ next_at_ms }) => (next_at_ms === null ? [] : [next_at_ms]))
  return times.length === 0 ? null : Math.min(...times)
}

async function runUntilDone(duty: Duty, sql: Sql): Promise<number> {
  let count = 0
  for (;;) {
    const { processed, isFull } = await duty.runOnce(sql, { batch: 100 })
    count += processed
    if (!isFull || processed === 0) return count
  }
}
