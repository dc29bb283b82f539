-- Made by `npm run sql`; do not edit.
-- duty.give-back
-- src/engine/duties/taken-duty.ts: giveBack
-- 6 lines, 0 CTEs
--
-- parameters:
--   $1 duty text
--   $2 filter text
--   $3 taken_by text
--   $4 next_in_ms int8
--   $5 run_at_ms int8
--   $6 last_report jsonb
-- columns:
--   finished_at_ms int8
--   is_asynchronous bool

update flowfabric.ff_duty
set next_at_ms = flowfabric.ff_now_ms() + $4, taken_until_ms = null, taken_by = null, last_run_at_ms = $5,
  last_report = $6::jsonb || jsonb_build_object('finishedAt', flowfabric.ff_now_ms())
where duty = $1 and filter = $2 and taken_by = $3
returning (last_report ->> 'finishedAt')::int8 as finished_at_ms,
  set_config('synchronous_commit', 'off', true) is not null as is_asynchronous
