-- Made by `npm run sql`; do not edit.
-- task.intern-policies
-- src/engine/task/register.ts: internPolicies
-- 6 lines, 0 CTEs
--
-- parameters:
--   $1 hashes bytea[]
--   $2 policies jsonb[]
-- columns: none

insert into flowfabric.ff_policy (policy_hash, policy)
select distinct on (i.policy_hash) i.policy_hash, i.policy
from unnest($1::bytea[], $2::jsonb[]) as i (policy_hash, policy)
where not exists (select from flowfabric.ff_policy p where p.policy_hash = any (array[i.policy_hash]))
order by i.policy_hash
on conflict (policy_hash) do nothing
