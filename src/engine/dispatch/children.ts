// The dispatch of an ended parent to its children: those that have not ended are cancelled with it, or continue without it.
import { attached } from '../../model/attached.ts'
import type { Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import { dutyParams, dutyRow, dutySetOfRow, inScope, deleteQuarantine } from '../kernel/candidate.ts'
import type { DutyParts } from '../kernel/run-duty.ts'
import { untilSent } from '../kernel/resend.ts'
import type { Dispatched } from './dispatched.ts'
import { pendingDispatch } from '../kernel/pending-dispatch.ts'

/** The name under which rows that cannot be processed are quarantined. */
export const childrenDuty = 'dispatch-children'

const dispatchColumns = 'd.execution_id, d.generation, d.flow_id, d.parent_id, d.has_children, d.created_at_ms'
const params = { ...dutyParams, from_ms: 'int8' } as const

/** The oldest rows in the scope of a duty's run, from `$6` on. */
const dueParents = `
select ${dispatchColumns}
from flowfabric.ff_dispatch d
join flowfabric.ff_exec_core e on e.execution_id = any (array[d.execution_id])
where d.has_children and d.created_at_ms > 0 and d.created_at_ms >= $6
  and ${inScope(childrenDuty)}
order by d.created_at_ms, d.execution_id
limit $1
for update of d skip locked`

// Takes the pending dispatch of endings to their children, and passes over rows that another transaction has locked. The parent is
// not locked: it has ended, so it gets no more children, and a replay does not change that. An ending before the last one needs no
// action: the parent runs again, or has ended again.
//
// A child to cancel is put into the backlog, without a lock. A child to detach is locked, in the order of ids, unless another
// transaction has locked it; then a later set takes it. Only its `parent` bit changes, so later changes of the child do not matter.
// Children that are in neither state are still to do: if a parent has more of them than one set takes, the next set takes the next.
const leaveStatement = statement({
  name: `duty.${childrenDuty}`,
  params,
  row: { ...dutyRow, backlogged: 'int8', oldest_ms: 'int8?' },
  text: `
with due as materialized (${dueParents}
),
named as materialized (
  select ${dispatchColumns}
  from unnest($5::uuid[]) as o (execution_id)
  join flowfabric.ff_dispatch d on d.execution_id = any (array[o.execution_id])
  for update of d skip locked
),
pending as materialized (
  select *
  from (select * from due union all select * from named) o
  where o.has_children
),
live as materialized (
  select o.execution_id as parent_id, c.*
  from pending o
  join flowfabric.ff_exec_core p on p.execution_id = any (array[o.execution_id])
  cross join lateral (
    select e.execution_id, e.generation, e.on_parent_end
    from flowfabric.ff_exec_input n
    join flowfabric.ff_exec_core e on e.execution_id = any (array[n.execution_id])
    where n.parent_id = o.execution_id and e.lifecycle_phase <> 'terminal' and e.attached & ${attached.parent} <> 0
      and not exists (
        select from flowfabric.ff_cancel_backlog b
        where b.execution_id = any (array[e.execution_id]) and b.generation = e.generation)
    limit $1 + 1
  ) c
  where p.lifecycle_phase = 'terminal' and p.generation = o.generation
  limit $1 + 1
),
taken as materialized (
  select *
  from live
  limit $1
),
backlogged as (
  insert into flowfabric.ff_cancel_backlog (execution_id, generation, flow_id, created_at_ms, reason, actor)
  select execution_id, generation, null, flowfabric.ff_now_ms(), 'parent_ended', 'dispatch'
  from taken
  where on_parent_end = 'cancel'
  on conflict do nothing
  returning execution_id
),
free as materialized (
  select e.execution_id
  from taken t
  join flowfabric.ff_exec_core e on e.execution_id = any (array[t.execution_id])
  where t.on_parent_end = 'detach'
  order by t.execution_id
  for no key update of e skip locked
),
detached as (
  update flowfabric.ff_exec_core e
  set attached = e.attached & ~${attached.parent}
  from free f
  where e.execution_id = any (array[f.execution_id])
),
-- A full set may have left children of any of its parents.
settled as materialized (
  select o.*
  from pending o
  where (select count(*) from live) <= $1
    and o.execution_id not in (
      select parent_id
      from taken
      where on_parent_end = 'detach' and execution_id not in (select execution_id from free))
),
gone as (
  delete from flowfabric.ff_dispatch d
  using settled s
  where d.execution_id = any (array[s.execution_id]) and d.generation = s.generation and d.outcome <> 'none'
    and s.flow_id is null and s.parent_id is null
),
cleared as (
  update flowfabric.ff_dispatch d
  set has_children = false
  from settled s
  where d.execution_id = any (array[s.execution_id]) and d.generation = s.generation and d.outcome <> 'none'
    and (s.flow_id is not null or s.parent_id is not null)
),
${deleteQuarantine(childrenDuty, 'settled')}
-- One parent alone may have more children than a set takes, and it is not settled before the last of them. Other sets may have
-- passed over a row with more pending dispatch, because it was locked here.
select case when n.is_full then $1 else (select count(*) from pending) end as seen,
  case when n.is_full then (select count(*) from backlogged) + (select count(*) from free)
    else (select count(*) from settled) end as processed,
  '{}'::int4[] as ready_queue_ids,
  case when exists (select from backlogged) then ${pendingDispatch.cancels} else 0 end
    | case when exists (select from settled where flow_id is not null) then ${pendingDispatch.flow} else 0 end
    | case when exists (select from settled where parent_id is not null) then ${pendingDispatch.parent} else 0 end as pending_dispatch,
  '{}'::uuid[] as stopped_run_ids,
  (select count(*) from backlogged) as backlogged, (select min(created_at_ms) from pending) as oldest_ms
from (select (select count(*) from live) > $1 as is_full) n`,
})

/** One set of the oldest rows, for the dispatcher. */
export async function leaveChildren(sql: Sql, batch: number, fromMs = 0): Promise<Dispatched> {
  const everything = { batch, namespace: null, tag_key: null, tag_value: null, only: [], from_ms: fromMs }
  const [row] = await untilSent(sql, { again: false }, () => sql.query(leaveStatement, everything))
  const { seen, processed: done, oldest_ms: oldestMs, pending_dispatch: pending } = row!
  return { seen, done, oldestMs, effects: { pendingDispatch: pending } }
}

const due = statement({
  name: `duty.${childrenDuty}.due`,
  params,
  row: { execution_id: 'uuid' },
  text: `select execution_id from (${dueParents}) due`,
})

/** The same for a duty. */
export const childrenParts: DutyParts = {
  name: childrenDuty,
  due: async (sql, scope) => {
    const rows = await sql.query(due, { ...scope, only: [], from_ms: 0 })
    return rows.map((row) => row.execution_id)
  },
  act: async (sql, only, scope) => {
    const [row] = await sql.query(leaveStatement, { ...scope, only, from_ms: 0 })
    return dutySetOfRow(row!)
  },
}
