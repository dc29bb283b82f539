-- Made by `npm run sql`; do not edit.
-- invariant.ready
-- src/engine/kernel/invariant.ts: invariant
-- 6 lines, 0 CTEs
--
-- parameters: none
-- columns:
--   subject text
--   found text

-- from src/engine/invariants.ts: invariants
select r.execution_id::text as subject, coalesce(e.eligibility_state::text, 'no execution') as found
from flowfabric.ff_ready r
left join flowfabric.ff_exec_core e
  on e.execution_id = r.execution_id and e.queue_id = r.queue_id and e.priority = -r.neg_priority and e.rank = r.rank
where e.eligibility_state is distinct from 'eligible_now' or r.resumed <> (e.public_state = 'resumable')
-- end of invariants
limit 10
