-- Made by `npm run sql`; do not edit.
-- duty.retention.flows
-- src/engine/duties/flow-retention.ts: retire
-- 40 lines, 4 CTEs
--
-- parameters:
--   $1 batch int8
--   $2 namespace text or null
--   $3 tag_key text or null
--   $4 tag_value text or null
--   $5 kept_for_ms int8
-- columns:
--   processed int8

with past as materialized (
  select f.flow_id, f.xmin as seen_xmin
  from flowfabric.ff_flow_core f
  where f.ended_at_ms < flowfabric.ff_now_ms() - $5
    and (
      select i.flow_id
      from flowfabric.ff_flow_core i
      where i.root_flow_id = f.flow_id
        and ((i.ended_at_ms < flowfabric.ff_now_ms() - $5) is not true
          or (select d.flow_id from flowfabric.ff_dispatch d where d.flow_id = i.flow_id limit 1) is not null)
      limit 1) is null
    and f.root_flow_id = f.flow_id
    and ($2::text is null or f.namespace = $2)
    and ($3::text is null or $4::text = (
      select t.tag_value
      from flowfabric.ff_flow_tag t
      where t.flow_id = f.flow_id and t.tag_key = $3))
  order by f.ended_at_ms, f.flow_id
  limit $1
),
root as materialized (
  select f.flow_id
  from past p
  join flowfabric.ff_flow_core f on f.flow_id = any (array[p.flow_id]) and f.xmin = p.seen_xmin
  order by p.flow_id
  for update of f skip locked
),
gone as (
  delete from flowfabric.ff_flow_core f
  using root r
  where f.root_flow_id = any (array[r.flow_id])
  returning f.flow_id
),
tag as (
  delete from flowfabric.ff_flow_tag t
  using gone g
  where t.flow_id = any (array[g.flow_id])
)
select count(*) as processed
from root
