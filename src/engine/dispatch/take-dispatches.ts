// Which dispatch rows a set takes, and the locks of the flows that they are for. Nothing is waited for: dispatch rows and the
// roots of the flows' trees are taken with skip locked, in this order; a root that was changed since the statement began is
// passed over like one that is held. So all that is read beside an unchanged root (members, edges, groups, inner flows,
// generations) is the newest there is, and what is written to it is found by the place where it was read, without an index.
import { attached } from '../../model/attached.ts'
import { clockAfter } from '../kernel/after-lock.ts'
import { inScope, dutyParams } from '../kernel/candidate.ts'

export const dispatchDuty = 'dispatch'

/** Of `dueDispatches`. */
export const dispatchParams = { ...dutyParams, passed_over: 'uuid[]', from_ms: 'int8' } as const

export const dispatchColumns = `d.ctid as dispatch_row, d.execution_id, d.generation, d.outcome, d.flow_id, d.is_counted,
    d.created_at_ms, d.parent_id is not null or d.has_children as owes_others`

// Not `<> all`: for each id the planner would take off the share of rows without a flow, expect next to nothing, and read all
// (measured).
/** The oldest that a sweep has in its scope, from `$7` on, but those of the flows in `$6`. */
export const dueDispatches = `
select ${dispatchColumns}
from flowfabric.ff_dispatch d
join flowfabric.ff_exec_core e on e.execution_id = any (array[d.execution_id])
where d.flow_id is not null and d.created_at_ms > 0 and d.created_at_ms >= $7
  and (d.flow_id = any ($6::uuid[])) is not true
  and ${inScope(dispatchDuty)}
order by d.created_at_ms, d.execution_id
limit $1
for update of d skip locked`

/** The oldest from `$3` on, but those of the flows in `$2`; what failed before is left to the sweeps, which try it alone. */
export const oldestDispatches = `
select ${dispatchColumns}
from flowfabric.ff_dispatch d
where d.flow_id is not null and d.created_at_ms > 0 and d.created_at_ms >= $3
  and (d.flow_id = any ($2::uuid[])) is not true
  and d.execution_id not in (select s.subject_id from flowfabric.ff_set_aside s where s.duty = '${dispatchDuty}')
order by d.created_at_ms, d.execution_id
limit $1
for update of d skip locked`

// A flow within none is its own root, and is looked up once. A row that another has changed since the statement began (a part of it
// was cleared, an edge renewed it) was locked as it is now, in a place that the statement does not see: it could be counted, and
// not deleted. It is left as if it were held, and taken by the next look: whoever changed it may have found it locked here.
/**
 * Gives `dispatch`, the rows of `from` beside the execution `e`, its flow `f` and the root of the flow's tree, with the places
 * of these rows, and `is_seen`. Of these are `isStarting`, for a member whose start is still to be told, and `isTaken`.
 */
export function lookAtDispatches(
  from: string,
  { isStarting, isTaken }: { isStarting: string; isTaken: string },
): string {
  return `
dispatch as materialized (
  select c.*, e.generation as current_generation, s.sub_flow_id, f.ctid as flow_row, f.member_id as standing_id,
    f.is_held as is_flow_held, f.cancel_policy, f.root_flow_id, case when r.flow_id is null then f.ctid else r.ctid end as root_row,
    case when r.flow_id is null then f.xmin else r.xmin end as root_xmin,
    ${isStarting} as is_starting, seen.execution_id is not null as is_seen,
    seen.execution_id is not null and ${isTaken} as is_taken
  from ${from} c
  left join flowfabric.ff_dispatch seen on seen.ctid = c.dispatch_row
  join flowfabric.ff_exec_core e on e.execution_id = any (array[c.execution_id])
  left join flowfabric.ff_flow_core f on f.flow_id = any (array[c.flow_id])
  left join flowfabric.ff_flow_core r on r.flow_id = any (array[nullif(f.root_flow_id, f.flow_id)])
  cross join lateral (
    select case when e.attached & ${attached.subFlow} <> 0 then (
      select m.sub_flow_id
      from flowfabric.ff_flow_member m
      where m.flow_id = c.flow_id and m.execution_id = c.execution_id) end as sub_flow_id
    offset 0
  ) s
  where c.flow_id is not null
)`
}

/**
 * Follows `dispatch`. Gives `told`, those of its rows that are taken and whose trees are locked, with `is_ahead`; and
 * `clock`.
 */
export const lockTrees = `
tree as materialized (
  select r.flow_id
  from (select distinct root_flow_id, root_row, root_xmin from dispatch where is_taken) d
  join flowfabric.ff_flow_core r on r.ctid = d.root_row and r.xmin = d.root_xmin
  order by d.root_flow_id
  for no key update of r skip locked
),
told as materialized (
  select *,
    -- What ended before its flow has begun tells nobody until then.
    case when is_flow_held then (flow_id in (select sub_flow_id from dispatch where is_taken)) is not true else false end as is_ahead
  from dispatch
  where is_taken and (root_flow_id in (select flow_id from tree)) is true
),
${clockAfter('told')}`

/** Of `dispatch`. */
export const oldestSeen = `(select min(created_at_ms) from dispatch) as oldest_ms`

/** The flows of `dispatch` whose trees another holds. */
export const heldTrees = `
    select distinct flow_id
    from dispatch
    where is_taken and root_flow_id not in (select flow_id from tree)`
