// Whether the background duties are running: late duties, quarantined rows, expired leases that were not reclaimed.
import { formatExecutionId } from '../../model/id.ts'
import { statement } from '../../sql/statement.ts'
import { allDuties } from '../duties/all.ts'
import { smallestStepMs } from '../duties/clock-set-back.ts'
import { supervisorRow } from '../duties/poll-duties.ts'
import { counted, finding, lasting, type Finding } from './finding.ts'
import { readOnly, type CheckDeps } from './read-only.ts'

// A duty runs only when a row is due. It is late when no process has polled for due rows, for its filter or for all.
const readDuties = statement({
  name: 'health.duties',
  params: { supervisor: 'text' },
  row: { duty: 'text', filter: 'text', late_ms: 'int8' },
  text: `
select d.duty, d.filter,
  flowfabric.ff_now_ms() - greatest(d.last_run_at_ms, d.taken_until_ms, s.last_run_at_ms, s.taken_until_ms, 0) as late_ms
from flowfabric.ff_duty d
left join lateral (
  select max(last_run_at_ms) as last_run_at_ms, max(taken_until_ms) as taken_until_ms
  from flowfabric.ff_duty
  where duty = $1 and (filter = d.filter or d.filter = '')
) s on true
where d.duty <> $1 and d.last_report is not null
order by d.duty, d.filter
limit 1000`,
})

const hasWork = statement({
  name: 'health.has-work',
  params: {},
  row: { has_work: 'bool' },
  text: `select exists (select from flowfabric.ff_exec_input) as has_work`,
})

export const lateMs = 60_000

/** By name, the longest first. */
export async function readLateDuties(deps: CheckDeps) {
  const rows = await readOnly(deps, (tx) => tx.query(readDuties, { supervisor: supervisorRow }))
  const late = rows.filter((row) => row.late_ms > lateMs).toSorted((a, b) => b.late_ms - a.late_ms)
  const known = new Set(rows.map((row) => row.duty))
  const never = allDuties(deps.sql.kind).filter((duty) => !known.has(duty.name))
  return { late, never: never.map((duty) => duty.name) }
}

export async function findDuties(deps: CheckDeps): Promise<Finding[]> {
  const { late, never } = await readLateDuties(deps)
  const isEmbedded = deps.sql.kind === 'embedded'
  const next = 'Start a worker or a server; both run the background duties.'
  if (never.length > 0) {
    const [row] = await readOnly(deps, (tx) => tx.query(hasWork, {}))
    const verdict = row!.has_work && !isEmbedded ? 'trouble' : 'note'
    return [finding('duties', verdict, 'Some background duties have never run.', { next, subjects: never })]
  }
  if (late.length === 0) return [finding('duties', 'fine', 'Background duties run on time.')]
  // This process has the directory open, so no other process can run them now.
  return [
    finding('duties', isEmbedded ? 'note' : 'trouble', `Background duties that are late: ${late.length}.`, {
      next,
      subjects: late.map(
        ({ duty, filter, late_ms }) => `${duty}${filter === '' ? '' : ` (${filter})`}: ${lasting(late_ms)}`,
      ),
    }),
  ]
}

// The supervisor records a clock step that it noticed; without one, its last poll lies in the future.
const readSteps = statement({
  name: 'health.clock-steps',
  params: { supervisor: 'text' },
  row: { ahead_ms: 'int8', set_back_ms: 'int8?', set_back_ms_ago: 'int8?' },
  text: `
select d.last_run_at_ms - flowfabric.ff_now_ms() as ahead_ms, (d.last_report ->> 'setBackMs')::int8 as set_back_ms,
  flowfabric.ff_now_ms() - (d.last_report ->> 'setBackAt')::int8 as set_back_ms_ago
from flowfabric.ff_duty d
where d.duty = $1 and d.last_run_at_ms is not null
order by d.last_run_at_ms desc`,
})

const stepRememberedMs = 24 * 3_600_000

export async function findClockSteps(deps: CheckDeps): Promise<Finding[]> {
  const rows = await readOnly(deps, (tx) => tx.query(readSteps, { supervisor: supervisorRow }))
  const next =
    'Let NTP adjust the clock slowly. Executions that were delayed before the clock step start late by the same amount.'
  const ahead = rows.find((row) => row.ahead_ms > smallestStepMs)
  if (ahead !== undefined) {
    const sentence = `The database's clock was set back: the last run of the background duties is ${lasting(ahead.ahead_ms)} in the future.`
    return [finding('clock steps', 'trouble', sentence, { next })]
  }
  const recent = rows.find((row) => row.set_back_ms_ago !== null && row.set_back_ms_ago < stepRememberedMs)
  if (recent === undefined) return [finding('clock steps', 'fine', "The database's clock was not set back.")]
  const [by, ago] = [lasting(recent.set_back_ms!), lasting(recent.set_back_ms_ago!)]
  return [finding('clock steps', 'trouble', `The database's clock was set back by ${by}, ${ago} ago.`, { next })]
}

const mostRows = 1000

const readSetAside = statement({
  name: 'health.set-aside',
  params: { limit: 'int8' },
  row: { duty: 'text', subject_id: 'uuid', failure_count: 'int4', error: 'text', partition_key: 'int2?' },
  text: `
select s.duty, s.subject_id, s.failure_count, s.error, e.partition_key
from (select * from flowfabric.ff_set_aside order by failure_count desc limit $1) s
left join flowfabric.ff_exec_core e on e.execution_id = s.subject_id`,
})

export async function findSetAside(deps: CheckDeps): Promise<Finding[]> {
  const rows = await readOnly(deps, (tx) => tx.query(readSetAside, { limit: mostRows }))
  if (rows.length === 0) return [finding('set aside', 'fine', 'No row is quarantined.')]
  return [
    finding(
      'set aside',
      'trouble',
      `Rows that duties failed to process and quarantined: ${counted(rows.length, mostRows)}.`,
      {
        next: 'Duties retry them with a back-off; check the error.',
        subjects: rows.slice(0, 5).map(({ duty, subject_id, partition_key, failure_count, error }) => {
          const id = partition_key === null ? subject_id : formatExecutionId(partition_key, subject_id)
          return `${duty}, ${id}, ${failure_count} times: ${error}`
        }),
      },
    ),
  ]
}

const readStuckLeases = statement({
  name: 'health.stuck-leases',
  params: { late_ms: 'int8', limit: 'int8' },
  row: { execution_id: 'uuid', partition_key: 'int2?', worker_instance_id: 'text', expired_ms_ago: 'int8' },
  text: `
select l.execution_id, e.partition_key, l.worker_instance_id, flowfabric.ff_now_ms() - l.expires_at_ms as expired_ms_ago
from (
  select *
  from flowfabric.ff_lease
  where expires_at_ms > 0 and expires_at_ms < flowfabric.ff_now_ms() - $1
  order by expires_at_ms
  limit $2
) l
left join flowfabric.ff_exec_core e on e.execution_id = l.execution_id
order by l.expires_at_ms`,
})

export async function findStuckLeases(deps: CheckDeps): Promise<Finding[]> {
  const rows = await readOnly(deps, (tx) => tx.query(readStuckLeases, { late_ms: lateMs, limit: mostRows }))
  if (rows.length === 0) return [finding('leases', 'fine', 'No expired lease is waiting to be reclaimed.')]
  return [
    finding(
      'leases',
      deps.sql.kind === 'embedded' ? 'note' : 'trouble',
      `Leases that expired more than a minute ago and were not reclaimed: ${counted(rows.length, mostRows)}.`,
      {
        next: 'Start a worker or a server: its duty lease-expiry reclaims them.',
        subjects: rows.slice(0, 5).map(({ execution_id, partition_key, worker_instance_id, expired_ms_ago }) => {
          const id = partition_key === null ? execution_id : formatExecutionId(partition_key, execution_id)
          return `${id}, held by ${worker_instance_id}, ${lasting(expired_ms_ago)} ago`
        }),
      },
    ),
  ]
}
