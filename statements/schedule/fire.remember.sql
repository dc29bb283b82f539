-- Made by `npm run sql`; do not edit.
-- schedule.fire.remember
-- src/engine/schedule/fire.ts: remember
-- 24 lines, 2 CTEs
--
-- parameters:
--   $1 schedule_ids uuid[]
--   $2 planned_ats_ms int8[] with nulls
--   $3 next_fire_ats_ms int8[] with nulls
--   $4 last_planned_ats_ms int8[] with nulls
--   $5 last_execution_ids uuid[] with nulls
--   $6 fired_counts int8[]
--   $7 skipped jsonb[]
--   $8 queued jsonb[]
--   $9 actor text
-- columns: none

with input as materialized (
  select i.*, flowfabric.ff_now_ms() as now_ms
  from unnest($1::uuid[], $2::int8[], $3::int8[], $4::int8[], $5::uuid[], $6::int8[], $7::jsonb[], $8::jsonb[])
    as i (schedule_id, planned_at_ms, next_fire_at_ms, last_planned_at_ms, last_execution_id, fired_count, skipped, queued)
),
remembered as (
  update flowfabric.ff_schedule s
  set planned_at_ms = i.planned_at_ms,
    next_fire_at_ms = i.next_fire_at_ms,
    last_planned_at_ms = i.last_planned_at_ms,
    last_execution_id = coalesce(i.last_execution_id, s.last_execution_id),
    last_fired_at_ms = case when i.fired_count > 0 then i.now_ms else s.last_fired_at_ms end,
    fired_count = s.fired_count + i.fired_count,
    skipped_count = s.skipped_count + jsonb_array_length(i.skipped),
    queued_at_ms = array(select t.value::int8 from jsonb_array_elements_text(i.queued) with ordinality t order by t.ordinality)
  from input i
  where s.schedule_id = any (array[i.schedule_id])
  returning s.schedule_name, s.namespace, s.partition_key, i.skipped, i.now_ms
)
insert into flowfabric.ff_event (occurred_at_ms, event_type, partition_key, namespace, actor, reason, details)
select now_ms, 'schedule_skipped', partition_key, namespace, $9, 'previous_running',
  jsonb_build_object('scheduleId', schedule_name, 'plannedAt', skipped)
from remembered
where jsonb_array_length(skipped) > 0
