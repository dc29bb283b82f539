-- Made by `npm run sql`; do not edit.
-- duty.dispatch-children
-- src/engine/dispatch/children.ts: leaveStatement
-- 111 lines, 12 CTEs
--
-- parameters:
--   $1 batch int8
--   $2 namespace text or null
--   $3 tag_key text or null
--   $4 tag_value text or null
--   $5 only uuid[]
--   $6 from_ms int8
-- columns:
--   seen int8
--   processed int8
--   ready_queue_ids int4[]
--   pending_dispatch int4
--   stopped_run_ids uuid[]
--   backlogged int8
--   oldest_ms int8 or null

with due as materialized (
  select d.execution_id, d.generation, d.flow_id, d.parent_id, d.has_children, d.created_at_ms
  from flowfabric.ff_dispatch d
  join flowfabric.ff_exec_core e on e.execution_id = any (array[d.execution_id])
  where d.has_children and d.created_at_ms > 0 and d.created_at_ms >= $6
    -- from src/engine/kernel/candidate.ts: inScope
    and cardinality($5::uuid[]) = 0
    -- from src/engine/kernel/due.ts: inDutyScope
    and ($2::text is null or e.namespace = $2)
    -- from src/engine/kernel/scope.ts: hasTag
    and ($3::text is null or $4::text = (
      select t.tag_value
      from flowfabric.ff_exec_tag t
      where t.execution_id = e.execution_id and t.tag_key = $3))
    -- end of hasTag
    and not exists (
      select from flowfabric.ff_set_aside a
      where a.duty = 'dispatch-children' and a.subject_id = any (array[e.execution_id]) and a.retry_at_ms > flowfabric.ff_now_ms())
    -- end of inDutyScope
    -- end of inScope
  order by d.created_at_ms, d.execution_id
  limit $1
  for update of d skip locked
),
named as materialized (
  select d.execution_id, d.generation, d.flow_id, d.parent_id, d.has_children, d.created_at_ms
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
    where n.parent_id = o.execution_id and e.lifecycle_phase <> 'terminal' and e.attached & 32 /* parent */ <> 0
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
  set attached = e.attached & ~32 /* parent */
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
-- from src/engine/kernel/candidate.ts: deleteQuarantine
unquarantined as (
  delete from flowfabric.ff_set_aside s
  where s.duty = 'dispatch-children'
    and (s.subject_id in (select execution_id from settled)
      or s.retry_at_ms < flowfabric.ff_now_ms() - 3600000)
)
-- end of deleteQuarantine
-- One parent alone may have more children than a set takes, and it is not settled before the last of them. Other sets may have
-- passed over a row with more pending dispatch, because it was locked here.
select case when n.is_full then $1 else (select count(*) from pending) end as seen,
  case when n.is_full then (select count(*) from backlogged) + (select count(*) from free)
    else (select count(*) from settled) end as processed,
  '{}'::int4[] as ready_queue_ids,
  case when exists (select from backlogged) then 1073741824 /* cancels */ else 0 end
  | case when exists (select from settled where flow_id is not null) then 16 else 0 end
  | case when exists (select from settled where parent_id is not null) then 32 else 0 end as pending_dispatch,
  '{}'::uuid[] as stopped_run_ids,
  (select count(*) from backlogged) as backlogged, (select min(created_at_ms) from pending) as oldest_ms
from (select (select count(*) from live) > $1 as is_full) n
