-- Made by `npm run sql`; do not edit.
-- health.set-aside
-- src/engine/health/upkeep.ts: readSetAside
-- 3 lines, 0 CTEs
--
-- parameters:
--   $1 limit int8
-- columns:
--   duty text
--   subject_id uuid
--   failure_count int4
--   error text
--   partition_key int2 or null

select s.duty, s.subject_id, s.failure_count, s.error, e.partition_key
from (select * from flowfabric.ff_set_aside order by failure_count desc limit $1) s
left join flowfabric.ff_exec_core e on e.execution_id = s.subject_id
