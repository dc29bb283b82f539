-- Made by `npm run sql`; do not edit.
-- waitpoint.of-suspension
-- src/engine/waiting/suspension/waitpoints.ts: readStatement
-- 13 lines, 0 CTEs
--
-- parameters:
--   $1 execution_id uuid
--   $2 suspension_id uuid
--   $3 kept_ids uuid[]
--   $4 kept_keys text[]
-- columns:
--   waitpoint_id uuid
--   waitpoint_key text
--   token_kid text
--   created_at_ms int8

select waitpoint_id, waitpoint_key, token_kid, created_at_ms
from (
  select *
  from flowfabric.ff_waitpoint_pending
  where execution_id = $1 and suspension_id = $2
  union all
  select *
  from flowfabric.ff_waitpoint_pending
  where execution_id = $1 and suspension_id is null and state = 'pending'
    and (waitpoint_id = any ($3) or not is_made_ahead and waitpoint_key = any ($4))
  offset 0
) p
order by waitpoint_id
