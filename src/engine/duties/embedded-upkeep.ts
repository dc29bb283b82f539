// Maintenance that a server's own processes do and that the embedded database has no process for. It vacuums tables with many
// dead rows, and it checkpoints: otherwise the write-ahead log is never truncated (measured: 2.7 GB in minutes).
//
// It runs on the caller's own thread, so one run vacuums one table, and only a table with enough dead rows to be worth reading its
// indexes (measured: 4 to 11 ms for tables with two thousand dead rows each); other duties run in between. It analyses no
// table: plans are pinned, and statistics of an empty table would only mislead the other plans.
import type { Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import { asEngineError } from '../kernel/failure.ts'
import type { Duty } from '../kernel/duty.ts'
import { noEffects } from '../kernel/effects.ts'
import { scopeOf } from '../kernel/scope.ts'

// The session writes its counts when it has been idle for a second; this writes them at once.
const flushCounts = statement({
  name: 'upkeep.flush-counts',
  params: {},
  row: {},
  text: `select from pg_stat_force_next_flush()`,
})

// Dead rows, as the server's autovacuum counts them; values stored out of line are in a table of their own. Transaction ids run
// out too, so a table that was not vacuumed for long is vacuumed for that reason alone, also those of the catalogue.
const readChurned = statement({
  name: 'upkeep.churned',
  params: {},
  row: { relation: 'text', is_old: 'bool' },
  text: `
select format('"%s"."%s"', replace(s.nspname, '"', '""'), replace(c.relname, '"', '""')) as relation,
  age(c.relfrozenxid) > 200000000 as is_old
from pg_class c
join pg_namespace s on s.oid = c.relnamespace
where c.relkind in ('r', 't') and c.relpersistence <> 't'
  and (age(c.relfrozenxid) > 200000000
    or pg_stat_get_dead_tuples(c.oid) > 2000 + 0.05 * pg_stat_get_live_tuples(c.oid))
order by age(c.relfrozenxid) > 200000000 desc, pg_stat_get_dead_tuples(c.oid) desc
limit 2`,
})

// The server keeps 80 MB of log files from before the last checkpoint for reuse.
const readWritten = statement({
  name: 'upkeep.written',
  params: {},
  row: { position: 'int8', since_checkpoint: 'int8' },
  text: `
select (pg_current_wal_lsn() - '0/0')::int8 as position, (pg_current_wal_lsn() - redo_lsn)::int8 as since_checkpoint
from pg_control_checkpoint()`,
})

const checkpointBytes = 32 * 1024 * 1024

// A database that has written less than this since the last run has nothing to vacuum.
const idleBytes = 256 * 1024

/** The position of the log at the last run. */
const positions = new WeakMap<Sql, number>()

export const embeddedUpkeep: Duty = {
  name: 'embedded-upkeep',
  intervalMs: 2000,
  isOfDatabase: true,
  async runOnce(sql, options = {}) {
    scopeOf(options)
    try {
      const written = await readPosition(sql)
      const isIdle = Math.abs(written.position - (positions.get(sql) ?? 0)) < idleBytes
      if (isIdle) return { processed: 0, errors: 0, isFull: false, effects: noEffects }
      const { vacuumed, isFull } = await vacuumOne(sql)
      const isCut = written.since_checkpoint >= checkpointBytes
      if (isCut) await sql.script('checkpoint')
      if (!isFull) positions.set(sql, written.position)
      return { processed: Number(vacuumed) + Number(isCut), errors: 0, isFull, effects: noEffects }
    } catch (error) {
      throw asEngineError(error)
    }
  },
}

async function vacuumOne(sql: Sql): Promise<{ vacuumed: boolean; isFull: boolean }> {
  await sql.query(flushCounts, {})
  const [churned, ...others] = await sql.query(readChurned, {})
  if (churned === undefined) return { vacuumed: false, isFull: false }
  await sql.script(`vacuum (process_toast false${churned.is_old ? ', freeze' : ''}) ${churned.relation}`)
  return { vacuumed: true, isFull: others.length > 0 }
}

async function readPosition(sql: Sql) {
  const [row] = await sql.query(readWritten, {})
  return row!
}
