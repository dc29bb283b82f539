-- Made by `npm run sql`; do not edit.
-- flow.list.by-id-prefix
-- src/engine/flow/list.ts: listByIdPrefix
-- 57 lines, 1 CTE
--
-- parameters:
--   $1 namespace text or null
--   $2 first_id uuid
--   $3 last_id uuid
--   $4 flow_id uuid
--   $5 limit int8
-- columns:
--   flow_id uuid
--   partition_key int2
--   namespace text
--   flow_kind text
--   state text
--   root_flow_id uuid
--   member_id uuid or null
--   creator_identity text
--   graph_revision int8
--   member_count int4
--   edge_count int4
--   success_count int8
--   failed_count int8
--   cancelled_count int8
--   expired_count int8
--   skipped_count int8
--   tags jsonb
--   cancel_policy text
--   cancel_reason text or null
--   cancelled_by text or null
--   created_at_ms int8
--   last_mutation_at_ms int8
--   closed_at_ms int8 or null
--   cancelled_at_ms int8 or null
--   ended_at_ms int8 or null

select
  -- from src/engine/flow/snapshot.ts: flowColumns
  f.flow_id, f.partition_key, f.namespace, f.flow_kind, s.state, f.root_flow_id, f.member_id, f.creator_identity,
  f.graph_revision, f.member_count, f.edge_count, f.success_count + o.success_count as success_count,
  f.failed_count + o.failed_count as failed_count, f.cancelled_count + o.cancelled_count as cancelled_count,
  f.expired_count + o.expired_count as expired_count, f.skipped_count + o.skipped_count as skipped_count,
  coalesce(t.tags, '{}') as tags, f.cancel_policy, f.cancel_reason, f.cancelled_by, f.created_at_ms,
  f.last_mutation_at_ms, f.closed_at_ms, f.cancelled_at_ms, f.ended_at_ms
  -- end of flowColumns
from flowfabric.ff_flow_core f
-- from src/engine/flow/snapshot.ts: flowJoins
cross join lateral (
  select count(*) filter (where d.outcome = 'success') as success_count,
    count(*) filter (where d.outcome = 'failed') as failed_count,
    count(*) filter (where d.outcome = 'cancelled') as cancelled_count,
    count(*) filter (where d.outcome = 'expired') as expired_count,
    count(*) filter (where d.outcome = 'skipped') as skipped_count,
    count(*) as owed_count
  from flowfabric.ff_dispatch d
  join flowfabric.ff_exec_core e on e.execution_id = any (array[d.execution_id]) and e.generation = d.generation
  where d.flow_id = f.flow_id and d.outcome <> 'none' and not d.is_counted
) o
cross join lateral (
  select case
    when f.cancelled_at_ms is not null then 'cancelled'
    when f.ended_at_ms is not null then case f.outcome when 'success' then 'completed' else 'failed' end
    when f.success_count + f.failed_count + f.cancelled_count + f.expired_count + f.skipped_count + o.owed_count > 0
      then 'running'
    when exists (
      with recursive within (flow_id) as (
        select f.flow_id
        union all
        select m.sub_flow_id
        from within w
        join flowfabric.ff_flow_member m on m.flow_id = any (array[w.flow_id])
        where m.sub_flow_id is not null
      )
      select
      from within w
      cross join lateral (
        select
        from flowfabric.ff_flow_member m
        join flowfabric.ff_exec_core e on e.execution_id = any (array[m.execution_id])
        where m.flow_id = w.flow_id
          and (e.started_at_ms is not null and e.attached & 512 /* subFlow */ = 0 or e.lifecycle_phase = 'terminal')
        limit 1
      ) e
    ) then 'running'
    else 'open'
  end as state
) s
left join lateral (
  select jsonb_object_agg(g.tag_key, g.tag_value) as tags
  from flowfabric.ff_flow_tag g
  where g.flow_id = any (array[f.flow_id])
) t on true
-- end of flowJoins
where f.flow_id >= $2 and f.flow_id <= $3 and f.flow_id > $4
  and ($1::text is null or f.namespace = $1)
order by f.flow_id
limit $5
