-- Made by `npm run sql`; do not edit.
-- duty.schedule-fire.due
-- src/engine/kernel/due.ts: dueRows
-- 14 lines, 1 CTE
--
-- parameters:
--   $1 batch int8
--   $2 namespace text or null
--   $3 tag_key text or null
--   $4 tag_value text or null
-- columns:
--   id uuid

with forgotten as (
  delete from flowfabric.ff_set_aside s
  where s.duty = 'schedule-fire' and s.retry_at_ms < flowfabric.ff_now_ms() - 3600000
)
-- from src/engine/duties/schedule-fire.ts: due
select s.schedule_id as id
from flowfabric.ff_schedule s
where s.next_fire_at_ms <= flowfabric.ff_now_ms()
  and ($2::text is null or s.namespace is not distinct from $2)
  and ($3::text is null or s.tags ->> $3 = $4)
  -- from src/engine/kernel/due.ts: notQuarantined
  and not exists (
    select from flowfabric.ff_set_aside a
    where a.duty = 'schedule-fire' and a.subject_id = any (array[s.schedule_id]) and a.retry_at_ms > flowfabric.ff_now_ms())
  -- end of notQuarantined
order by s.next_fire_at_ms, s.schedule_id
limit $1
-- end of due
