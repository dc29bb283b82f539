// Members to cancel: with their flow, because enough of their siblings have ended, or with their parent. A set of them ends, leased
// or not; those that another transaction has locked stay in the backlog.
//
// A row names the generation that had not ended when it was read, and a restart reads neither the row nor the flow: it may even come between
// the snapshot that found the member and the commit of its row. So a cancel follows a member through its restarts here. It does not
// follow one that has ended meanwhile: a caller requested the replay, later than the cancel.
//
// A cancel of more of a flow writes again to the rows that it finds. It waits for a row that is locked here, and inserts the row
// again when this transaction has deleted it. The policy is read after that lock, so no member is spared by an older policy.
import { attached } from '../../model/attached.ts'
import { cancelMember } from '../../model/cancellation.ts'
import type { LockedExecution } from '../../model/locked-execution.ts'
import { cleanUpUntil } from '../../model/stop.ts'
import { call, type Sql } from '../../sql/sql.ts'
import { statement, type RowOf } from '../../sql/statement.ts'
import { dueRows, inDutyScope, releaseCall } from '../kernel/due.ts'
import { untilSent } from '../kernel/resend.ts'
import type { DutySet } from '../kernel/run-duty.ts'
import { lockedExecutions, readLockedCall } from '../transition/read-locked.ts'
import { asks, ends, transitionCalls, transitionEffects, type Transition } from '../transition/transitions.ts'
import type { Dispatched } from './dispatched.ts'

export const cancelBacklogDuty = 'cancel-backlog'

/**
 * Whether `ff_exec_core k` has only restarted since an earlier generation, and never ended. A generation that a restart has
 * ended has one attempt with that outcome, written with the execution's row.
 */
export function isSameLifeSql(k: string, generation: string): string {
  return `(${k}.generation = ${generation} or ${k}.generation - ${generation} = (
      select count(*)
      from flowfabric.ff_attempt a
      where a.execution_id = any (array[${k}.execution_id]) and a.outcome = 'restarted'
        and a.generation >= ${generation} and a.generation < ${k}.generation))`
}

/**
 * The end of an insert into the backlog, under the lock of a tree: an existing row is written again, so that no transaction that
 * has locked it deletes it by an older policy. It waits for such a transaction, which waits for no flow.
 */
export const orWriteAgain = 'on conflict (execution_id, generation) do update set created_at_ms = b.created_at_ms'

export const dueCancels = dueRows(
  cancelBacklogDuty,
  `
select b.execution_id as id
from flowfabric.ff_cancel_backlog b
join flowfabric.ff_exec_core e on e.execution_id = any (array[b.execution_id])
where b.created_at_ms > 0
  and ${inDutyScope(cancelBacklogDuty)}
order by b.created_at_ms, b.execution_id
limit $1`,
)

// Locks the rows before the executions: a transaction that cancels more members waits for these locks, and has locked no execution.
// It locks the executions of these rows only: of two processes with the same ids, one would otherwise lock the rows and the other
// the executions, and both would process nothing.
export const lockBacklog = statement({
  name: `duty.${cancelBacklogDuty}.lock`,
  params: { execution_ids: 'uuid[]' },
  row: { execution_id: 'uuid', generation: 'int4' },
  text: `
with backlog as materialized (
  select b.execution_id, b.generation
  from flowfabric.ff_cancel_backlog b
  where b.execution_id = any ($1)
  order by b.execution_id, b.generation
  for update of b skip locked
),
locked as materialized (
  select e.execution_id
  from (select distinct execution_id from backlog) b
  join flowfabric.ff_exec_core e on e.execution_id = any (array[b.execution_id])
  order by b.execution_id
  for no key update of e skip locked
)
select execution_id, generation
from backlog
where execution_id in (select execution_id from locked)`,
})

export const readBacklog = statement({
  name: `duty.${cancelBacklogDuty}.read`,
  params: { execution_ids: 'uuid[]' },
  row: {
    execution_id: 'uuid',
    generation: 'int4',
    reason: 'text',
    actor: 'text',
    is_same_life: 'bool',
    /** A member that has started since continues. A member that represents a flow never runs. */
    is_only_pending: 'bool',
  },
  text: `
select b.execution_id, b.generation, b.reason, b.actor, ${isSameLifeSql('e', 'b.generation')} as is_same_life,
  b.reason = 'flow_cancelled' and e.attached & ${attached.subFlow} = 0
    and coalesce(f.cancel_policy = 'cancel_pending', false) as is_only_pending
from unnest($1::uuid[]) as i (execution_id)
join flowfabric.ff_cancel_backlog b on b.execution_id = any (array[i.execution_id])
join flowfabric.ff_exec_core e on e.execution_id = any (array[i.execution_id])
left join flowfabric.ff_flow_core f on f.flow_id = any (array[b.flow_id])`,
})

const acknowledge = statement({
  name: `duty.${cancelBacklogDuty}.acknowledge`,
  params: { execution_ids: 'uuid[]', generations: 'int4[]' },
  row: {},
  text: `
delete from flowfabric.ff_cancel_backlog b
using unnest($1::uuid[], $2::int4[]) as i (execution_id, generation)
where b.execution_id = any (array[i.execution_id]) and b.generation = i.generation`,
})

/** Cancels the members with these ids. It leaves those that another transaction has locked to that transaction, or to the duty. */
export async function cancelMembers(sql: Sql, ids: readonly string[]): Promise<DutySet> {
  const uuids = [...new Set(ids)]
  let transitions: readonly Transition[] = []
  let processed = 0
  const named = { execution_ids: uuids }
  const reads = [call(lockBacklog, named), readLockedCall(uuids), call(readBacklog, named)] as const
  await sql.decide(reads, ([locked, rows, read]) => {
    const executions = lockedExecutions(locked, rows)
    const isLocked = new Set(locked.map(keyOf))
    const known = read.filter((row) => isLocked.has(keyOf(row)) && executions.has(row.execution_id))
    transitions = transitionsOf(known, executions)
    processed = known.length
    if (processed === 0) return []
    const acknowledged = call(acknowledge, {
      execution_ids: known.map((row) => row.execution_id),
      generations: known.map((row) => row.generation),
    })
    return [
      ...transitionCalls(transitions),
      acknowledged,
      releaseCall(
        cancelBacklogDuty,
        known.map((row) => row.execution_id),
      ),
    ]
  })
  return { seen: ids.length, processed, effects: transitionEffects(transitions) }
}

/** The oldest rows, for the dispatcher. */
export async function endBacklogged(sql: Sql, batch: number): Promise<Dispatched> {
  const everything = { batch, namespace: null, tag_key: null, tag_value: null }
  return untilSent(sql, { again: false }, async () => {
    const ids = await dueCancels(sql, everything)
    if (ids.length === 0) return { seen: 0, done: 0, oldestMs: null, effects: {} }
    const { seen, processed: done, effects } = await cancelMembers(sql, ids)
    return { seen, done, oldestMs: null, effects }
  })
}

type BacklogRow = RowOf<typeof readBacklog.row>

function keyOf({ execution_id: uuid, generation }: Pick<BacklogRow, 'execution_id' | 'generation'>): string {
  return `${uuid} ${generation}`
}

/** One for each execution: an execution that has restarted may have a row for each of its generations, and the last one counts. */
function transitionsOf(
  rows: readonly BacklogRow[],
  executions: ReadonlyMap<string, LockedExecution>,
): readonly Transition[] {
  const byExecution = new Map<string, Transition>()
  for (const row of rows.toSorted((one, other) => one.generation - other.generation)) {
    const execution = executions.get(row.execution_id)!
    const { reason, actor, is_same_life: isSameLife, is_only_pending: isOnlyPending } = row
    const decided = cancelMember(execution, { isSameLife, isOnlyPending })
    if (decided === 'ends') byExecution.set(execution.uuid, ends(execution, { outcome: 'cancelled', reason, actor }))
    if (decided === 'asked') {
      const request = { outcome: null, reason, actor, until: cleanUpUntil(execution.now) }
      byExecution.set(execution.uuid, asks(execution, request))
    }
  }
  return [...byExecution.values()]
}
