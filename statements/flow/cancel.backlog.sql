-- Made by `npm run sql`; do not edit.
-- flow.cancel.backlog
-- src/engine/flow/cancel.ts: readBacklog
-- 9 lines, 0 CTEs
--
-- parameters:
--   $1 flow_id uuid
-- columns:
--   is_waiting bool

select exists (
  select
  from flowfabric.ff_flow_core f
  join flowfabric.ff_flow_core i on i.root_flow_id = any (array[f.root_flow_id])
  where f.flow_id = $1
    and coalesce(
      (select b.flow_id from flowfabric.ff_cancel_backlog b where b.flow_id = any (array[i.flow_id]) limit 1),
      (select d.flow_id from flowfabric.ff_dispatch d where d.flow_id = any (array[i.flow_id]) limit 1)) is not null
) as is_waiting
