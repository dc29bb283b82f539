-- Made by `npm run sql`; do not edit.
-- invariant.completion
-- src/engine/kernel/invariant.ts: invariant
-- 16 lines, 1 CTE
--
-- parameters: none
-- columns:
--   subject text
--   found text

-- from src/engine/invariants.ts: invariants
with log as materialized (
  select (select v.occurred_at_ms from flowfabric.ff_event v order by v.event_id limit 1) + 60000 as since_ms
  where not exists (
    select
    from pg_inherits i
    join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'flowfabric.ff_event'::regclass and pg_get_expr(c.relpartbound, c.oid) like '%MINVALUE%')
)
select e.execution_id::text as subject, concat(e.public_state, ' with ', count(v.event_id), ' events') as found
from flowfabric.ff_exec_core e
left join flowfabric.ff_event v
  on v.execution_id = e.execution_id and v.event_type = 'ended' and v.generation = e.generation
group by e.execution_id
having count(v.event_id) <> case when e.lifecycle_phase = 'terminal' then 1 else 0 end
  and not (count(v.event_id) = 0 and coalesce(e.terminal_at_ms < (select since_ms from log), false))
-- end of invariants
limit 10
