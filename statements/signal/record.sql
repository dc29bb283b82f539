-- Made by `npm run sql`; do not edit.
-- signal.record
-- src/engine/waiting/signal/record.ts: recordStatement
-- 54 lines, 4 CTEs
--
-- parameters:
--   $1 execution_ids uuid[]
--   $2 signal_ids uuid[]
--   $3 waitpoint_ids uuid[] with nulls
--   $4 suspension_ids uuid[] with nulls
--   $5 accepted_ats_ms int8[]
--   $6 are_taken bool[]
--   $7 generations int4[]
--   $8 effects text[]
--   $9 waitpoint_keys text[] with nulls
--   $10 names text[]
--   $11 categories text[]
--   $12 source_types text[]
--   $13 source_identities text[]
--   $14 claimed_types text[] with nulls
--   $15 claimed_identities text[] with nulls
--   $16 correlation_ids text[] with nulls
--   $17 idempotency_keys text[] with nulls
--   $18 payloads bytea[] with nulls
--   $19 encodings text[] with nulls
--   $20 partition_keys int2[]
--   $21 namespaces text[]
--   $22 actors text[]
--   $23 flow_ids uuid[] with nulls
--   $24 signal_nos int8[]
--   $25 received_counts int4[]
-- columns: none

with received as materialized (
  select *
  from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::int8[], $6::bool[], $7::int4[], $8::text[], $9::text[],
    $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::text[], $17::text[], $18::bytea[],
    $19::text[], $20::int2[], $21::text[], $22::text[], $23::uuid[], $24::int8[], $25::int4[])
    as i (execution_id, signal_id, waitpoint_id, suspension_id, accepted_at_ms, is_taken, generation,
      effect, waitpoint_key, signal_name, signal_category, source_type, source_identity, claimed_type,
      claimed_identity, correlation_id, idempotency_key, payload, payload_encoding, partition_key, namespace, actor, flow_id, signal_no,
      received_count)
),
recorded as (
  insert into flowfabric.ff_signal (execution_id, signal_no, signal_id, waitpoint_id, suspension_id, accepted_at_ms,
    taken_at_ms, generation, effect, received_count, waitpoint_key, signal_name, signal_category, source_type,
    source_identity, claimed_type, claimed_identity, correlation_id, idempotency_key, payload, payload_encoding)
  select execution_id, signal_no, signal_id, waitpoint_id, suspension_id, accepted_at_ms,
    case when is_taken then accepted_at_ms end, generation, effect::flowfabric.ff_signal_effect, received_count, waitpoint_key,
    signal_name, signal_category, source_type::flowfabric.ff_source_type, source_identity, claimed_type, claimed_identity,
    correlation_id, idempotency_key, payload, payload_encoding
  from received
),
logged as (
  insert into flowfabric.ff_event (occurred_at_ms, execution_id, flow_id, generation, event_type, partition_key, namespace, actor,
    reason, attempt_index, details)
  select accepted_at_ms, execution_id, flow_id, generation, 'signalled'::flowfabric.ff_event_type, partition_key, namespace,
    actor, null::text, null::int4,
    case when claimed_type is null
        then case when waitpoint_id is null
            then jsonb_build_object('signalId', signal_id, 'signalName', signal_name, 'effect', effect, 'category', signal_category,
              'sourceType', source_type, 'sourceIdentity', source_identity)
          else jsonb_build_object('signalId', signal_id, 'signalName', signal_name, 'effect', effect, 'category', signal_category,
            'sourceType', source_type, 'sourceIdentity', source_identity, 'waitpointId',
            '{fp:' || partition_key || '}:' || waitpoint_id) end
      else case when waitpoint_id is null
          then jsonb_build_object('signalId', signal_id, 'signalName', signal_name, 'effect', effect, 'category', signal_category,
            'sourceType', source_type, 'sourceIdentity', source_identity)
        else jsonb_build_object('signalId', signal_id, 'signalName', signal_name, 'effect', effect, 'category', signal_category,
          'sourceType', source_type, 'sourceIdentity', source_identity, 'waitpointId',
          '{fp:' || partition_key || '}:' || waitpoint_id) end || jsonb_build_object('claimedType', claimed_type, 'claimedIdentity',
            claimed_identity) end
  from received
),
-- Every signal writes its execution, so that a statement that checks this row never decides by a snapshot from before
-- the signal: an ending, a restart, a suspension, or the next signal that is counted (signal.settle). For a signal that
-- ends a wait, the wake writes it. Signals by name that wait for a condition set a bit: the ending reports how many were
-- never taken, and a restart keeps them.
marked as (
  update flowfabric.ff_exec_core e
  set attached = e.attached | case when i.has_kept then 256 else 0 end
  from (
    select execution_id, bool_or(effect = 'kept_for_condition' and not is_taken) as has_kept,
      bool_or(effect = 'resume_condition_satisfied') as ends_a_wait
    from received
    group by execution_id
  ) i
  where e.execution_id = any (array[i.execution_id]) and e.lifecycle_phase <> 'terminal'
    and (i.has_kept or not i.ends_a_wait)
)
select
