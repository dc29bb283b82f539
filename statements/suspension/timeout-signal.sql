-- Made by `npm run sql`; do not edit.
-- suspension.timeout-signal
-- src/engine/waiting/signal/timeout-signal.ts: sendTimeout
-- 24 lines, 2 CTEs
--
-- parameters:
--   $1 execution_ids uuid[]
--   $2 suspension_ids uuid[]
--   $3 signal_ids uuid[]
--   $4 signal_nos int8[]
--   $5 actor text
--   $6 at_ms int8
-- columns: none

with sent as materialized (
  select e.execution_id, e.partition_key, e.namespace, e.flow_id, e.generation, e.attempt_index, i.suspension_id,
    i.signal_id, i.signal_no
  from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::int8[]) as i (execution_id, suspension_id, signal_id, signal_no)
  join flowfabric.ff_exec_core e on e.execution_id = any (array[i.execution_id])
),
signal as (
  insert into flowfabric.ff_signal (execution_id, signal_no, signal_id, suspension_id, accepted_at_ms, taken_at_ms,
    generation, received_count, effect, signal_name, signal_category, source_type, source_identity)
  -- from src/engine/waiting/earlier-signals.ts: receivedCount
  select execution_id, signal_no, signal_id, suspension_id, $6, $6, generation, coalesce((
    select case when g.generation = sent.generation then g.received_count end
    from flowfabric.ff_signal g
    where g.execution_id = sent.execution_id
    order by g.signal_no desc
    limit 1), 0) + 1,
  -- end of receivedCount
    'resume_condition_satisfied', 'timeout', 'timeout', 'system', 'suspension_timeout'
  from sent
)
insert into flowfabric.ff_event (occurred_at_ms, execution_id, flow_id, generation, event_type, partition_key, namespace,
  actor, reason, attempt_index, details)
select $6, execution_id, flow_id, generation, 'signalled', partition_key, namespace, $5, 'timeout', attempt_index,
  jsonb_build_object('signalId', signal_id, 'signalName', 'timeout', 'effect', 'resume_condition_satisfied',
    'category', 'timeout', 'sourceType', 'system', 'sourceIdentity', 'suspension_timeout')
from sent
