-- Made by `npm run sql`; do not edit.
-- duty.retention.executions
-- src/engine/duties/delete-executions.ts: deleteExecutions
-- 67 lines, 13 CTEs
--
-- parameters:
--   $1 execution_ids uuid[]
--   $2 partition_keys int2[]
-- columns: none

with past as materialized (
  select *
  from unnest($1::uuid[], $2::int2[]) as i (execution_id, partition_key)
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
cancel as (
  delete from flowfabric.ff_cancel_backlog b
  using past p
  where b.execution_id = any (array[p.execution_id])
)
delete from flowfabric.ff_exec_core e
using past p
where e.execution_id = any (array[p.execution_id])
