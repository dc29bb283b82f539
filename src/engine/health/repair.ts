// Harmless repairs: late duties run once, quarantined rows are retried, eligible executions without a ready row return
// to their queues, and tables with more dead rows than live ones are vacuumed. Each reports what it did.
import { formatExecutionId } from '../../model/id.ts'
import { quoteIdentifier } from '../../sql/qualify.ts'
import { call, type Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import { allDuties } from '../duties/all.ts'
import { asEngineError } from '../kernel/failure.ts'
import type { CheckDeps } from './read-only.ts'
import { findMigrations } from './migrations.ts'
import { readBloatedTables } from './server.ts'
import { readLateDuties } from './upkeep.ts'
import { readStrandedExecutions } from './work.ts'

export interface Repair {
  readonly kind: 'retried' | 'swept' | 'requeued' | 'vacuumed' | 'failed'
  readonly sentence: string
}

const timeoutMs = 5000
const mostSets = 100
const mostStranded = 1000

/** A schema that this code does not know is not changed. */
export async function repairHealth(sql: Sql, codeVersion: string): Promise<readonly Repair[]> {
  const deps = { sql, timeoutMs }
  const { isThere } = await findMigrations(deps, codeVersion)
  if (!isThere) return []
  const repairs: Repair[] = []
  for (const mend of [retrySetAside, sweepLate, requeueStranded, vacuumBloated]) {
    try {
      repairs.push(...(await mend(deps)))
    } catch (error) {
      repairs.push({ kind: 'failed', sentence: asEngineError(error).message })
    }
  }
  return repairs
}

const tryAgain = statement({
  name: 'health.try-again',
  params: {},
  row: { duty: 'text' },
  text: `
update flowfabric.ff_set_aside
set retry_at_ms = flowfabric.ff_now_ms()
where (duty, subject_id) in (
  select duty, subject_id
  from flowfabric.ff_set_aside
  where retry_at_ms > flowfabric.ff_now_ms()
  order by duty, subject_id
  limit 1000
  for update skip locked)
returning duty`,
})

async function retrySetAside({ sql }: CheckDeps): Promise<Repair[]> {
  const rows = await sql.query(tryAgain, {})
  if (rows.length === 0) return []
  const duties = new Set(rows.map((row) => row.duty))
  const repairs: Repair[] = [{ kind: 'retried', sentence: `quarantined rows that are due for a retry: ${rows.length}` }]
  for (const name of duties) repairs.push(...(await repairDuty(sql, name)))
  return repairs
}

async function sweepLate(deps: CheckDeps): Promise<Repair[]> {
  const { late, never } = await readLateDuties(deps)
  const repairs: Repair[] = []
  for (const name of new Set([...late.map((row) => row.duty), ...never]))
    repairs.push(...(await repairDuty(deps.sql, name)))
  return repairs
}

/** Safe next to a process that runs it at the same time: every set is taken with skip locked. */
async function repairDuty(sql: Sql, name: string): Promise<Repair[]> {
  const duty = allDuties(sql.kind).find((each) => each.name === name)
  if (duty === undefined) return []
  let [processed, errors] = [0, 0]
  for (let sets = 0; sets < mostSets; sets += 1) {
    const run = await duty.runOnce(sql)
    processed += run.processed
    errors += run.errors
    if (!run.isFull) break
  }
  const failed = errors === 0 ? '' : `, ${errors} failed`
  return [{ kind: 'swept', sentence: `duty ${name} ran: ${processed} processed${failed}` }]
}

const lockExecutions = statement({
  name: 'health.lock-executions',
  params: { execution_ids: 'uuid[]' },
  row: {},
  text: `
select
from flowfabric.ff_exec_core e
where e.execution_id = any ($1)
order by e.execution_id
for no key update`,
})

// Runs after the lock, so that it sees rows that moved meanwhile.
const putBack = statement({
  name: 'health.put-back',
  params: { execution_ids: 'uuid[]' },
  row: { execution_id: 'uuid', partition_key: 'int2' },
  text: `
with stranded as materialized (
  select e.queue_id, e.priority, e.rank, e.execution_id, e.partition_key, e.public_state
  from flowfabric.ff_exec_core e
  where e.execution_id = any ($1) and e.lifecycle_phase = 'runnable' and e.eligibility_state = 'eligible_now'
    and not exists (
      select
      from flowfabric.ff_ready r
      where r.queue_id = e.queue_id and r.neg_priority = -e.priority and r.rank = e.rank
        and r.execution_id = e.execution_id)
    and not exists (
      select from flowfabric.ff_cancel_backlog b where b.execution_id = e.execution_id and b.generation = e.generation)
),
put as (
  insert into flowfabric.ff_ready (queue_id, neg_priority, resumed, rank, execution_id)
  select queue_id, -priority, public_state = 'resumable', rank, execution_id
  from stranded
)
select execution_id, partition_key
from stranded`,
})

async function requeueStranded(deps: CheckDeps): Promise<Repair[]> {
  const found = await readStrandedExecutions(deps, mostStranded)
  if (found.length === 0) return []
  const ids = { execution_ids: found.map((row) => row.execution_id) }
  const [, rows] = await deps.sql.pipeline([call(lockExecutions, ids), call(putBack, ids)], {
    lockTimeoutMs: timeoutMs,
  })
  return rows.map(({ execution_id, partition_key }) => ({
    kind: 'requeued',
    sentence: `${formatExecutionId(partition_key, execution_id)} was stranded and was returned to its queue`,
  }))
}

async function vacuumBloated(deps: CheckDeps): Promise<Repair[]> {
  const { sql } = deps
  const repairs: Repair[] = []
  for (const { name, may_vacuum } of await readBloatedTables(deps)) {
    if (!may_vacuum) {
      repairs.push({ kind: 'failed', sentence: `${name} was not vacuumed: only its owner can do that` })
      continue
    }
    // Alone: it does not run inside a transaction, and skips locked tables.
    const table = `${quoteIdentifier(sql.schema)}.${quoteIdentifier(name)}`
    await sql.script(`vacuum (analyze, skip_locked) ${table}`, { statementTimeoutMs: Infinity })
    repairs.push({ kind: 'vacuumed', sentence: `${name} was vacuumed` })
  }
  return repairs
}
