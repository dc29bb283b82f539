-- Made by `npm run sql`; do not edit.
-- invariant.step
-- src/engine/kernel/invariant.ts: invariant
-- 10 lines, 0 CTEs
--
-- parameters: none
-- columns:
--   subject text
--   found text

-- from src/engine/invariants.ts: invariants
select s.execution_id::text as subject, concat(count(*), ' steps, the newest says ', max(s.newest_count)) as found
from (
  select f.execution_id, f.generation, e.generation as current_generation,
    first_value(f.total_count) over (partition by f.execution_id, f.generation order by f.step_no desc) as newest_count
  from flowfabric.ff_step f
  join flowfabric.ff_exec_core e on e.execution_id = f.execution_id
) s
group by s.execution_id, s.generation
having count(*) <> max(s.newest_count) or s.generation > max(s.current_generation)
-- end of invariants
limit 10
