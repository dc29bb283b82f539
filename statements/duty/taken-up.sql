-- Made by `npm run sql`; do not edit.
-- duty.taken-up
-- src/engine/kernel/candidate.ts: forgetSetAside
-- 3 lines, 0 CTEs
--
-- parameters:
--   $1 duty text
--   $2 execution_ids uuid[]
-- columns: none

delete from flowfabric.ff_set_aside s
where s.duty = $1
  and (s.subject_id = any ($2) or s.retry_at_ms < flowfabric.ff_now_ms() - 3600000)
