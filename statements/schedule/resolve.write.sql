-- Made by `npm run sql`; do not edit.
-- schedule.resolve.write
-- src/engine/schedule/resolve.ts: write
-- 12 lines, 1 CTE
--
-- parameters:
--   $1 schedule_ids uuid[]
--   $2 request_hashes bytea[]
--   $3 queue_ids int4[]
--   $4 policies jsonb[] with nulls
--   $5 deadlines_ms int8[] with nulls
--   $6 tags jsonb[] with nulls
-- columns: none

with target as materialized (
  select s.schedule_id, i.queue_id, i.policy, i.deadline_ms, i.tags
  from unnest($1::uuid[], $2::bytea[], $3::int4[], $4::jsonb[], $5::int8[], $6::jsonb[])
    as i (schedule_id, request_hash, queue_id, policy, deadline_ms, tags)
  join flowfabric.ff_schedule s on s.schedule_id = any (array[i.schedule_id]) and s.request_hash = i.request_hash
  order by i.schedule_id
  for no key update of s skip locked
)
update flowfabric.ff_schedule s
set queue_id = t.queue_id, policy = t.policy, deadline_after_ms = t.deadline_ms, tags = t.tags
from target t
where s.schedule_id = any (array[t.schedule_id])
