-- Made by `npm run sql`; do not edit.
-- queue.peek
-- src/engine/queue/match.ts: peekStatement
-- 14 lines, 0 CTEs
--
-- parameters:
--   $1 namespaces text[]
--   $2 any_namespace bool
--   $3 lanes text[]
--   $4 kinds text[]
--   $5 any_kind bool
--   $6 versions text[]
--   $7 capabilities text[]
--   $8 queue_ids int4[]
-- columns:
--   has_ready bool
--   queue_count int8

select exists (
  select
  from unnest($8::int4[]) as k (queue_id)
  cross join lateral (
    select
    from flowfabric.ff_ready r
    where r.queue_id = k.queue_id
    limit 1
  ) ready) as has_ready,
  (select count(*) from flowfabric.ff_queue q where ($2 or q.namespace = any ($1::text[]))
      and q.lane_id = any ($3::text[])
      -- from src/engine/queue/served.ts: isServedSql
      and ($5 or q.execution_kind = any ($4::text[]))
      and (q.task_version = '' or q.task_version = any ($6::text[]))
      and q.required_capabilities <@ $7::text[]) as queue_count
      -- end of isServedSql
