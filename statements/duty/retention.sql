-- Made by `npm run sql`; do not edit.
-- duty.retention
-- src/engine/duties/retention.ts: retire
-- 185 lines, 24 CTEs
--
-- parameters:
--   $1 batch int8
--   $2 namespace text or null
--   $3 tag_key text or null
--   $4 tag_value text or null
--   $5 only uuid[]
--   $6 kept_for_ms int8
-- columns:
--   seen int8
--   processed int8
--   ready_queue_ids int4[]
--   owes int4
--   called_off_ids uuid[]

-- from src/engine/kernel/candidate.ts: candidates
with candidate as materialized (
  (
    -- from src/engine/duties/retention.ts: due
    select past.execution_id, past.seen_xmin
    from flowfabric.ff_queue q
    cross join unnest(enum_range(null::flowfabric.ff_terminal_outcome)) as o (terminal_outcome)
    cross join lateral (
      select e.execution_id, e.xmin as seen_xmin
      from flowfabric.ff_exec_core e
      where e.queue_id = q.queue_id and e.terminal_outcome = o.terminal_outcome
        and e.terminal_at_ms < flowfabric.ff_now_ms() - $6
        and (select f.flow_id from flowfabric.ff_flow_core f where f.flow_id = e.flow_id) is null
        and (select p.lifecycle_phase = 'terminal' from flowfabric.ff_exec_core p where p.execution_id = e.parent_id)
        is not false
        and (select d.generation from flowfabric.ff_dispatch d where d.execution_id = e.execution_id limit 1) is null
        and (
          select max(k.expires_at_ms)
          from flowfabric.ff_idempotency_key k
          where k.namespace = any (array[e.namespace])
            and k.scope_id = any (array['00000000-0000-0000-0000-000000000000', e.flow_id, e.parent_id, e.schedule_id]::uuid[])
            and k.execution_id = e.execution_id
            and k.idempotency_key = any (array(
              select n.idempotency_key
              from flowfabric.ff_exec_input n
              where n.partition_key = any (array[e.partition_key]) and n.execution_id = any (array[e.execution_id])))
        ) > flowfabric.ff_now_ms() is not true
        -- from src/engine/kernel/candidate.ts: inScope
        and cardinality($5::uuid[]) = 0
        and ($2::text is null or e.namespace = $2)
        -- from src/engine/kernel/scope.ts: hasTag
        and ($3::text is null or $4::text = (
          select t.tag_value
          from flowfabric.ff_exec_tag t
          where t.execution_id = e.execution_id and t.tag_key = $3))
        -- end of hasTag
        and not exists (
          select from flowfabric.ff_set_aside s
          where s.duty = 'retention' and s.subject_id = any (array[e.execution_id]) and s.retry_at_ms > flowfabric.ff_now_ms())
        -- end of inScope
      order by e.terminal_at_ms, e.execution_id
      limit $1
    ) past
    where $2::text is null or q.namespace = $2
    limit $1)
    -- end of due
  union all
  select e.execution_id, e.xmin
  from unnest($5::uuid[]) as o (execution_id)
  join flowfabric.ff_exec_core e on e.execution_id = any (array[o.execution_id])
),
-- end of candidates
-- from src/engine/kernel/candidate.ts: lockedExecutions
target as materialized (
  select e.*
  from candidate c
  join flowfabric.ff_exec_core e on e.execution_id = any (array[c.execution_id]) and e.xmin = c.seen_xmin
  order by c.execution_id
  for no key update of e skip locked
),
-- from src/engine/kernel/after-lock.ts: clockAfter
clock as materialized (
  select flowfabric.ff_now_ms() as now_ms
  from target
  having count(*) >= 0
),
-- end of clockAfter
looked as materialized (
  select t.*, c.now_ms
  from target t
  cross join clock c
),
-- end of lockedExecutions
past as materialized (
  select e.execution_id, e.partition_key, e.namespace, e.flow_id, n.idempotency_key,
    array['00000000-0000-0000-0000-000000000000', e.flow_id, e.parent_id, e.schedule_id]::uuid[] as key_scopes
  from looked e
  join flowfabric.ff_exec_input n on n.partition_key = any (array[e.partition_key]) and n.execution_id = any (array[e.execution_id])
  where e.terminal_at_ms < flowfabric.ff_now_ms() - $6
    and (select f.flow_id from flowfabric.ff_flow_core f where f.flow_id = e.flow_id) is null
    and (select p.lifecycle_phase = 'terminal' from flowfabric.ff_exec_core p where p.execution_id = e.parent_id)
    is not false
    and (select d.generation from flowfabric.ff_dispatch d where d.execution_id = e.execution_id limit 1) is null
    and (
      select max(k.expires_at_ms)
      from flowfabric.ff_idempotency_key k
      where k.namespace = any (array[e.namespace])
        and k.scope_id = any (array['00000000-0000-0000-0000-000000000000', e.flow_id, e.parent_id, e.schedule_id]::uuid[])
        and k.execution_id = e.execution_id
        and k.idempotency_key = any (array(
          select n.idempotency_key
          from flowfabric.ff_exec_input n
          where n.partition_key = any (array[e.partition_key]) and n.execution_id = any (array[e.execution_id])))
    ) > flowfabric.ff_now_ms() is not true
),
core as (
  delete from flowfabric.ff_exec_core e
  using past p
  where e.execution_id = any (array[p.execution_id])
),
cold as (
  delete from flowfabric.ff_exec_input n
  using past p
  where n.partition_key = any (array[p.partition_key]) and n.execution_id = any (array[p.execution_id])
),
result as (
  delete from flowfabric.ff_exec_result r
  using past p
  where r.execution_id = any (array[p.execution_id])
),
tag as (
  delete from flowfabric.ff_exec_tag t
  using past p
  where t.execution_id = any (array[p.execution_id])
),
attempt as (
  delete from flowfabric.ff_attempt a
  using past p
  where a.execution_id = any (array[p.execution_id])
),
progress as (
  delete from flowfabric.ff_progress g
  using past p
  where g.execution_id = any (array[p.execution_id])
),
request as (
  delete from flowfabric.ff_request r
  using past p
  where r.execution_id = any (array[p.execution_id])
),
grants as (
  delete from flowfabric.ff_grant g
  using past p
  where g.execution_id = any (array[p.execution_id])
),
step as (
  delete from flowfabric.ff_step s
  using past p
  where s.execution_id = any (array[p.execution_id])
),
suspension as (
  delete from flowfabric.ff_suspension_current s
  using past p
  where s.execution_id = any (array[p.execution_id])
),
waitpoint as (
  delete from flowfabric.ff_waitpoint_pending w
  using past p
  where w.execution_id = any (array[p.execution_id])
),
signal as (
  delete from flowfabric.ff_signal g
  using past p
  where g.execution_id = any (array[p.execution_id])
),
member as (
  delete from flowfabric.ff_flow_member m
  using past p
  where m.flow_id = any (array[p.flow_id]) and m.execution_id = any (array[p.execution_id])
),
inbound as (
  delete from flowfabric.ff_edge x
  using past p
  where p.flow_id is not null and x.downstream_id = any (array[p.execution_id])
),
outbound as (
  delete from flowfabric.ff_edge x
  using past p
  where p.flow_id is not null and x.upstream_id = any (array[p.execution_id])
),
edge_group as (
  delete from flowfabric.ff_edge_group g
  using past p
  where p.flow_id is not null and g.downstream_id = any (array[p.execution_id])
),
cancel as (
  delete from flowfabric.ff_cancel_backlog b
  using past p
  where b.execution_id = any (array[p.execution_id])
),
key as (
  delete from flowfabric.ff_idempotency_key k
  using past p
  where k.namespace = any (array[p.namespace]) and k.scope_id = any (p.key_scopes)
    and k.idempotency_key = any (array[p.idempotency_key])
    and k.execution_id = p.execution_id
),
-- from src/engine/kernel/candidate.ts: takenUp
taken_up as (
  delete from flowfabric.ff_set_aside s
  where s.duty = 'retention'
    and (s.subject_id in (select execution_id from past)
      or s.retry_at_ms < flowfabric.ff_now_ms() - 3600000)
)
-- end of takenUp
-- from src/engine/kernel/candidate.ts: sweptOwing
select (select count(*) from candidate) as seen,
  (select count(*) from past) as processed,
  coalesce(null, '{}'::int4[]) as ready_queue_ids,
  0 as owes, '{}'::uuid[] as called_off_ids
-- end of sweptOwing
