-- Made by `npm run sql`; do not edit.
-- invariant.tag
-- src/engine/kernel/invariant.ts: invariant
-- 5 lines, 0 CTEs
--
-- parameters: none
-- columns:
--   subject text
--   found text

-- from src/engine/invariants.ts: invariants
select e.execution_id::text as subject, concat(t.tag_key, ', attached ', e.attached) as found
from flowfabric.ff_exec_tag t
join flowfabric.ff_exec_core e on e.execution_id = t.execution_id
where e.attached & 1024 /* tags */ = 0
-- end of invariants
limit 10
