-- Made by `npm run sql`; do not edit.
-- suspension.close-waitpoints
-- src/engine/waiting/suspension/open-waitpoints.ts: closeStatement
-- 5 lines, 0 CTEs
--
-- parameters:
--   $1 waitpoint_ids uuid[]
--   $2 suspension_ids uuid[] with nulls
--   $3 closed_ats_ms int8[]
--   $4 reasons text[]
-- columns: none

update flowfabric.ff_waitpoint_pending p
set state = 'closed', suspension_id = i.suspension_id, closed_at_ms = i.closed_at_ms, close_reason = i.reason,
  expires_at_ms = null
from unnest($1::uuid[], $2::uuid[], $3::int8[], $4::text[]) as i (waitpoint_id, suspension_id, closed_at_ms, reason)
where p.waitpoint_id = any (array[i.waitpoint_id])
