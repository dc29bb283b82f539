-- Made by `npm run sql`; do not edit.
-- execution.claim-by-id
-- src/engine/execution/claim-by-id.ts: claimStatement
-- 142 lines, 7 CTEs
--
-- parameters:
--   $1 worker_id text
--   $2 worker_instance_id text
--   $3 lease_ttl_ms int8
--   $4 actor text
--   $5 execution_id uuid
--   $6 partition_key int2
--   $7 namespace text or null
--   $8 grant_id text
--   $9 any_kind bool
--   $10 kinds text[]
--   $11 versions text[]
--   $12 capabilities text[]
-- columns:
--   execution_id uuid
--   partition_key int2
--   lease_id uuid
--   lease_epoch int8
--   lease_expires_at_ms int8
--   attempt_state_before text
--   interruption_before text
--   attempt_index int4
--   generation int4
--   queue_id int4
--   priority int2
--   rank int8
--   payload bytea or null
--   payload_encoding text or null
--   tags jsonb or null
--   policy jsonb or null
--   retry_count int4
--   created_at_ms int8
--   deadline_at_ms int8 or null
--   attempt_deadline_at_ms int8 or null
--   flow_id uuid or null
--   parent_id uuid or null
--   resumption text or null
--   has_more_to_close bool
--   is_stopping bool
--   namespace text
--   lane_id text
--   execution_kind text
--   task_version text

with taken as materialized (
  select r.ctid as ready_row, e.ctid as taken_row, e.attempt_state, e.interruption, e.attached
  from flowfabric.ff_exec_core e
  join flowfabric.ff_ready r
    on r.queue_id = any (array[e.queue_id])
    and r.neg_priority = any (array[-e.priority])
    and r.rank = any (array[e.rank])
    and r.execution_id = any (array[e.execution_id])
  where e.execution_id = $5 and e.partition_key = $6 and ($7::text is null or e.namespace = $7)
    and e.eligibility_state = 'eligible_now'
    and e.attached & 128 /* grant */ <> 0
    and exists (
      select from flowfabric.ff_grant g
      where g.execution_id = any (array[e.execution_id]) and g.grant_id::text = $8 and g.worker_id = $1
        and g.worker_instance_id = $2 and g.expires_at_ms > flowfabric.ff_now_ms())
    and exists (
      select from flowfabric.ff_queue q
      where q.queue_id = any (array[e.queue_id])
        -- from src/engine/queue/served.ts: isServedSql
        and ($9 or q.execution_kind = any ($10::text[]))
        and (q.task_version = '' or q.task_version = any ($11::text[]))
        and q.required_capabilities <@ $12::text[])
        -- end of isServedSql
    -- from src/engine/execution/claim.ts: isOfCancelledFlow
    and not (e.attached & 16 /* flow */ <> 0 and e.cancel_requested_at_ms is null and exists (
      select from flowfabric.ff_flow_core f
      where f.flow_id = any (array[e.flow_id])
        and coalesce(f.cancel_policy = 'cancel_all' or f.cancel_policy = 'cancel_pending' and e.started_at_ms is null, false)))
    -- end of isOfCancelledFlow
  for no key update of e
),
-- Read once: for each row it would be a fifteenth of a claim of 500 (measured).
-- from src/engine/execution/claim.ts: holdTaken
-- from src/engine/kernel/after-lock.ts: clockAfter
clock as materialized (
  select flowfabric.ff_now_ms() as now_ms
  from taken
  having count(*) >= 0
),
-- end of clockAfter
claimed as (
  update flowfabric.ff_exec_core e
  set lifecycle_phase = 'active',
    ownership_state = 'leased',
    eligibility_state = 'not_applicable',
    attempt_state = 'running_attempt',
    interruption = 'none',
    attempt_index = case when e.attempt_state = 'attempt_interrupted' then e.attempt_index else e.total_attempt_count end,
    total_attempt_count = e.total_attempt_count + case when e.attempt_state = 'attempt_interrupted' then 0 else 1 end,
    lease_id = gen_random_uuid(),
    lease_epoch = e.lease_epoch + 1,
    attached = e.attached & ~128 /* grant */,
    started_at_ms = coalesce(e.started_at_ms, (select now_ms from clock)),
    attempt_deadline_at_ms = case when e.attached & 2048 /* attemptTimeout */ <> 0 then (select now_ms from clock) + (
      select (n.policy ->> 'attemptTimeoutMs')::int8
      from flowfabric.ff_exec_input n
      where n.partition_key = any (array[e.partition_key]) and n.execution_id = any (array[e.execution_id])) end,
    last_mutation_at_ms = greatest((select now_ms from clock), e.last_mutation_at_ms)
  from taken t
  where e.ctid = t.taken_row
  returning e.execution_id, e.partition_key, e.lease_id, e.lease_epoch, t.attempt_state as attempt_state_before,
    t.interruption as interruption_before, e.attempt_index, e.generation, e.namespace, e.queue_id, e.priority, e.rank,
    t.attached, e.cancel_requested_at_ms is not null as is_stopping, e.retry_count, e.created_at_ms, e.deadline_at_ms,
    e.attempt_deadline_at_ms, e.flow_id, e.parent_id, (select now_ms from clock) as now_ms, t.ready_row
),
unready as (
  delete from flowfabric.ff_ready r
  using claimed c
  where r.ctid = c.ready_row
),
ungranted as (
  delete from flowfabric.ff_grant g
  using claimed c
  where c.attached & 128 /* grant */ <> 0 and g.execution_id = any (array[c.execution_id])
),
leased as (
  insert into flowfabric.ff_lease (execution_id, lease_id, lease_epoch, acquired_at_ms, expires_at_ms,
    attempt_started_at_ms, attempt_index, is_continued, is_started, attempt_type, worker_id, worker_instance_id)
  select execution_id, lease_id, lease_epoch, now_ms, now_ms + $3,
    case attempt_state_before when 'attempt_interrupted' then (
      select a.started_at_ms
      from flowfabric.ff_attempt a
      where a.execution_id = any (array[c.execution_id]) and a.attempt_index = c.attempt_index) else now_ms end,
    attempt_index, attempt_state_before = 'attempt_interrupted', true,
    case attempt_state_before
      when 'attempt_interrupted' then (
        select a.attempt_type
        from flowfabric.ff_attempt a
        where a.execution_id = any (array[c.execution_id]) and a.attempt_index = c.attempt_index)
      when 'pending_retry_attempt' then 'retry'::flowfabric.ff_attempt_type
      when 'pending_replay_attempt' then 'replay'::flowfabric.ff_attempt_type
      else 'initial'::flowfabric.ff_attempt_type
    end, $1, $2
  from claimed c
),
acquired as (
  insert into flowfabric.ff_event (occurred_at_ms, execution_id, flow_id, generation, event_type, partition_key,
    namespace, actor, lease_effect, lease_id, lease_epoch, attempt_index, worker_instance_id)
  select now_ms, execution_id, flow_id, generation, 'acquired', partition_key, namespace, $4,
    case when interruption_before in ('lapsed', 'revoked') then 'reclaimed'::flowfabric.ff_lease_effect
      else 'acquired'::flowfabric.ff_lease_effect end,
    lease_id, lease_epoch, attempt_index, $2
  from claimed
)
-- end of holdTaken
select
  -- from src/engine/execution/claim.ts: claimColumns
  c.execution_id, c.partition_key, c.lease_id, c.lease_epoch, c.now_ms + $3 as lease_expires_at_ms, c.attempt_state_before,
  c.interruption_before, c.attempt_index, c.generation, c.queue_id, c.priority, c.rank, n.payload, n.payload_encoding,
  case when c.attached & 1024 /* tags */ <> 0 then (
    select jsonb_object_agg(t.tag_key, t.tag_value)
    from flowfabric.ff_exec_tag t
    where t.execution_id = c.execution_id
  ) end as tags,
  n.policy, c.retry_count, c.created_at_ms, c.deadline_at_ms, c.attempt_deadline_at_ms, c.flow_id, c.parent_id,
  -- from src/engine/waiting/suspension/resumption.ts: resumptionOf
  case when c.attempt_state_before in ('attempt_interrupted', 'pending_retry_attempt') then (
    select json_build_object('suspensionId', s.suspension_id, 'idempotencyKey', s.idempotency_key,
      'resumedAt', s.closed_at_ms, 'closeReason', s.close_reason, 'satisfied', s.outcome -> 'satisfied',
      'satisfiedLeaves', s.outcome -> 'satisfiedLeaves', 'winners', s.outcome -> 'winners',
      -- Most waits take one signal, which always fits (measured: a twentieth less for a drain of those that were answered).
      'only', case when cardinality(s.signal_nos) = 1 then (
        select row_to_json(g)
        from (
          -- from src/engine/waiting/signal-row.ts: signalColumns
          select g.execution_id, s.partition_key as partition_key, g.signal_id, g.waitpoint_id, g.waitpoint_key, g.signal_name,
            g.signal_category, g.source_type, g.source_identity, g.claimed_type, g.claimed_identity, g.correlation_id,
            encode(g.payload, 'base64') as payload, g.payload_encoding, g.effect, g.accepted_at_ms, g.taken_at_ms
          -- end of signalColumns
          from flowfabric.ff_signal g
          where g.execution_id = s.execution_id and g.signal_no = any (s.signal_nos)
        ) g
      ) end,
      'all', case when (cardinality(s.signal_nos) = 1) is not true then (
        select json_build_object(
          'signals', json_agg(row_to_json(g) order by g.signal_no) filter (where g.bytes_so_far <= 1048576),
          'hasMore', bool_or(g.bytes_so_far > 1048576))
        from (
          -- from src/engine/waiting/signal-row.ts: signalColumns
          select g.execution_id, s.partition_key as partition_key, g.signal_id, g.waitpoint_id, g.waitpoint_key, g.signal_name,
            g.signal_category, g.source_type, g.source_identity, g.claimed_type, g.claimed_identity, g.correlation_id,
            case when sum(coalesce(octet_length(g.payload), 0) + 1024) over accepted <= 1048576
                then encode(g.payload, 'base64') end as payload, g.payload_encoding, g.effect, g.accepted_at_ms, g.taken_at_ms, g.signal_no,
          -- end of signalColumns
            sum(coalesce(octet_length(g.payload), 0) + 1024) over accepted as bytes_so_far
          from flowfabric.ff_signal g
          where g.execution_id = s.execution_id and g.signal_no = any (s.signal_nos)
          window accepted as (order by g.signal_no)
        ) g
    ) end)::text
    from flowfabric.ff_suspension_current s
    where s.execution_id = any (array[c.execution_id]) and s.closed_at_ms is not null
      and s.generation = c.generation) end as resumption,
  -- end of resumptionOf
  c.attached & 259 /* waitpoints | suspension | signals */ <> 0 as has_more_to_close, c.is_stopping, q.namespace, q.lane_id,
  q.execution_kind, q.task_version
  -- end of claimColumns
from claimed c
join flowfabric.ff_exec_input n
  on n.partition_key = any (array[c.partition_key]) and n.execution_id = any (array[c.execution_id])
join flowfabric.ff_queue q on q.queue_id = c.queue_id
