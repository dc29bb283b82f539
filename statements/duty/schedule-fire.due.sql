-- Made by `npm run sql`; do not edit.
-- duty.schedule-fire.due
-- src/engine/duties/schedule-fire.ts: due
-- 10 lines, 0 CTEs
--
-- parameters:
--   $1 batch int8
--   $2 namespace text or null
--   $3 tag_key text or null
--   $4 tag_value text or null
-- columns:
--   schedule_id uuid

select s.schedule_id
from flowfabric.ff_schedule s
where s.next_fire_at_ms <= flowfabric.ff_now_ms()
  and ($2::text is null or s.namespace is not distinct from $2)
  and ($3::text is null or s.tags ->> $3 = $4)
  and not exists (
    select from flowfabric.ff_set_aside a
    where a.duty = 'schedule-fire' and a.subject_id = any (array[s.schedule_id]) and a.retry_at_ms > flowfabric.ff_now_ms())
order by s.next_fire_at_ms, s.schedule_id
limit $1
