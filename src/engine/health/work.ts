// Whether waiting executions can run: queues that no worker serves, executions that nothing will ever wake, broken
// invariants.
import { formatExecutionId } from '../../model/id.ts'
import { statement } from '../../sql/statement.ts'
import { invariants } from '../invariants.ts'
import { sharedScope } from '../signing-key/scope.ts'
import { counted, finding, type Finding } from './finding.ts'
import { readOnly, orUnknown, type CheckDeps } from './read-only.ts'

const mostQueues = 100

// A worker serves a queue as in its claim: by namespace, lane, kind, version and capabilities.
const readUnserved = statement({
  name: 'health.unserved-queues',
  params: { limit: 'int8' },
  row: { namespace: 'text', lane_id: 'text', execution_kind: 'text' },
  text: `
select q.namespace, q.lane_id, q.execution_kind
from flowfabric.ff_queue q
where exists (select from flowfabric.ff_ready r where r.queue_id = q.queue_id)
  and not exists (
    select
    from flowfabric.ff_worker i
    where i.namespace = any (array[q.namespace, '${sharedScope}'])
      and i.expires_at_ms > flowfabric.ff_now_ms()
      and q.lane_id = any (i.lanes)
      and (i.kinds is null or q.execution_kind = any (i.kinds))
      and (q.task_version = '' or q.task_version = any (i.versions))
      and q.required_capabilities <@ i.capabilities)
order by q.namespace, q.lane_id, q.execution_kind
limit $1`,
})

export async function findUnserved(deps: CheckDeps): Promise<Finding[]> {
  const rows = await readOnly(deps, (tx) => tx.query(readUnserved, { limit: mostQueues }))
  if (rows.length === 0) return [finding('workers', 'fine', 'Every queue with waiting executions has a worker.')]
  return [
    finding(
      'workers',
      deps.sql.kind === 'embedded' ? 'note' : 'trouble',
      `Queues with waiting executions that no worker serves: ${counted(rows.length, mostQueues)}.`,
      {
        next: 'Start a worker that serves them; flowfabric worker list shows the kinds and lanes of each worker.',
        subjects: rows
          .slice(0, 10)
          .map(({ namespace, lane_id, execution_kind }) => `${namespace}, lane ${lane_id}, kind ${execution_kind}`),
      },
    ),
  ]
}

const mostLookedAt = 50_000
const mostShown = 10

// As the invariant of the same name, but for the newest executions only, so that it costs the same on any database.
const readStranded = statement({
  name: 'health.stranded',
  params: { newest: 'int8', limit: 'int8' },
  row: { execution_id: 'uuid', partition_key: 'int2', found: 'text' },
  text: `
select e.execution_id, e.partition_key, concat_ws('/', e.lifecycle_phase, e.eligibility_state, e.attempt_state) as found
from (
  select n.execution_id
  from flowfabric.ff_exec_input n
  order by n.created_at_ms desc, n.execution_id desc
  limit $1
) newest
join flowfabric.ff_exec_core e on e.execution_id = newest.execution_id
left join flowfabric.ff_ready r
  on r.queue_id = e.queue_id and r.neg_priority = -e.priority and r.rank = e.rank and r.execution_id = e.execution_id
left join flowfabric.ff_lease l on l.execution_id = e.execution_id
where e.lifecycle_phase <> 'terminal'
  and r.execution_id is null
  and l.execution_id is null
  and e.delay_until_ms is null
  and e.parked_at_ms is null
  and not exists (
    select from flowfabric.ff_cancel_backlog b where b.execution_id = e.execution_id and b.generation = e.generation)
limit $2`,
})

/** The first few. */
export async function readStrandedExecutions(deps: CheckDeps, most = mostShown) {
  return readOnly(deps, (tx) => tx.query(readStranded, { newest: mostLookedAt, limit: most }))
}

export async function findStranded(deps: CheckDeps): Promise<Finding[]> {
  const rows = await readStrandedExecutions(deps)
  if (rows.length === 0) {
    return [finding('stranded', 'fine', `None of the newest ${mostLookedAt} executions is stranded.`)]
  }
  return [
    finding(
      'stranded',
      'trouble',
      `Stranded executions (not ready, delayed, leased or suspended): ${counted(rows.length, mostShown)}.`,
      {
        next: 'This is a bug in the engine: please report it. --repair returns the claimable ones to their queues.',
        subjects: rows.map(({ execution_id, partition_key, found }) => {
          return `${formatExecutionId(partition_key, execution_id)}, ${found}`
        }),
      },
    ),
  ]
}

/** All invariants, over all rows: for a quiet hour. */
export async function findBroken(deps: CheckDeps, onLooked: (name: string) => void): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const [sentence, query] of invariants) {
    const check = query.name.replace('.', ' ')
    const found = await orUnknown(check, async () => {
      const rows = await readOnly(deps, (tx) => tx.query(query, {}))
      if (rows.length === 0) return [finding(check, 'fine', `Holds: ${sentence}.`)]
      return [
        finding(check, 'trouble', `Violated: ${sentence}.`, {
          next: 'This is a bug in the engine: please report it.',
          subjects: rows.map((row) => `${row.subject}: ${row.found}`),
        }),
      ]
    })
    findings.push(...found)
    onLooked(check)
  }
  return findings
}
