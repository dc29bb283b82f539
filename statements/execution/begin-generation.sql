-- Made by `npm run sql`; do not edit.
-- execution.begin-generation
-- src/engine/execution/restart.ts: beginStatement
-- 56 lines, 4 CTEs
--
-- parameters:
--   $1 execution_ids uuid[]
--   $2 partition_keys int2[]
--   $3 left_generations int4[]
--   $4 left_ats_ms int8[]
--   $5 have_waitpoints bool[]
--   $6 payloads bytea[] with nulls
--   $7 payload_encodings text[] with nulls
-- columns: none

with restarting as materialized (
  select *
  from unnest($1::uuid[], $2::int2[], $3::int4[], $4::int8[], $5::bool[], $6::bytea[], $7::text[])
    as r (execution_id, partition_key, generation, left_at_ms, has_waitpoints, payload, payload_encoding)
),
renewed_input as (
  update flowfabric.ff_exec_input n
  set payload = r.payload, payload_encoding = r.payload_encoding
  from restarting r
  where n.partition_key = any (array[r.partition_key]) and n.execution_id = any (array[r.execution_id])
),
-- Untaken signals by name move to the new generation. A taken one moves for its key, so that a repeat of it stays a repeat. The
-- newest signal moves because it has the count of all. Only the untaken ones count toward what the new generation may receive.
kept_signal as materialized (
  select r.execution_id, g.signal_no, sum(g.counts) over (partition by r.execution_id) as received_count
  from restarting r
  cross join lateral (
    select k.signal_no, max(k.counts) as counts
    from (
      select g.signal_no, 1 as counts
      from (
        -- from src/engine/transition/untaken-signals.ts: waitingByName
        select g.*
        from flowfabric.ff_signal g
        where g.execution_id = r.execution_id
          and coalesce(g.waitpoint_id, '00000000-0000-0000-0000-000000000000'::uuid) = '00000000-0000-0000-0000-000000000000'::uuid
          and g.generation = r.generation and g.taken_at_ms is null
        offset 0
        -- end of waitingByName
      ) g
      union all
      select g.signal_no, 0
      from flowfabric.ff_signal g
      where g.execution_id = any (array[r.execution_id]) and g.idempotency_key is not null
        and coalesce(g.waitpoint_id, '00000000-0000-0000-0000-000000000000'::uuid) = '00000000-0000-0000-0000-000000000000'::uuid
        and g.generation = r.generation
      union all
      select n.signal_no, 0
      from (
        select g.signal_no, g.generation
        from flowfabric.ff_signal g
        where g.execution_id = r.execution_id
        order by g.signal_no desc
        limit 1
      ) n
      where n.generation = r.generation
    ) k
    group by k.signal_no
  ) g
),
kept_signals as (
  update flowfabric.ff_signal g
  set generation = g.generation + 1, received_count = k.received_count
  from kept_signal k
  where g.execution_id = any (array[k.execution_id]) and g.signal_no = any (array[k.signal_no])
)
update flowfabric.ff_waitpoint_pending p
set state = 'closed', closed_at_ms = r.left_at_ms, close_reason = 'proactive_close', expires_at_ms = null
from restarting r
where r.has_waitpoints and p.execution_id = any (array[r.execution_id]) and p.state = 'pending'
