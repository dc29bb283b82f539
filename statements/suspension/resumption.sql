-- Made by `npm run sql`; do not edit.
-- suspension.resumption
-- src/engine/waiting/suspension/resumption.ts: resumptionStatement
-- 34 lines, 0 CTEs
--
-- parameters:
--   $1 execution_ids uuid[]
-- columns:
--   execution_id uuid
--   resumption text or null

select e.execution_id, (
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
  where s.execution_id = any (array[e.execution_id]) and s.closed_at_ms is not null
    and s.generation = e.generation) as resumption
from unnest($1::uuid[]) as i (execution_id)
join flowfabric.ff_exec_core e on e.execution_id = any (array[i.execution_id])
