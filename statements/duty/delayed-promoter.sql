-- Made by `npm run sql`; do not edit.
-- duty.delayed-promoter
-- src/engine/duties/delayed-promoter.ts: promote
-- 62 lines, 7 CTEs
--
-- parameters:
--   $1 batch int8
--   $2 namespace text or null
--   $3 tag_key text or null
--   $4 tag_value text or null
--   $5 only uuid[]
-- columns:
--   seen int8
--   processed int8
--   ready_queue_ids int4[]
--   owes int4
--   called_off_ids uuid[]

-- from src/engine/kernel/candidate.ts: candidates
with candidate as materialized (
  (
    -- from src/engine/duties/delayed-promoter.ts: due
    select e.execution_id, e.xmin as seen_xmin
    from flowfabric.ff_exec_core e
    where e.delay_until_ms <= flowfabric.ff_now_ms()
      -- from src/engine/kernel/candidate.ts: inScope
      and cardinality($5::uuid[]) = 0
      and ($2::text is null or e.namespace = $2)
      -- from src/engine/kernel/scope.ts: hasTag
      and ($3::text is null or $4::text = (
        select t.tag_value
        from flowfabric.ff_exec_tag t
        where t.execution_id = e.execution_id and t.tag_key = $3))
      -- end of hasTag
      and not exists (
        select from flowfabric.ff_set_aside s
        where s.duty = 'delayed-promoter' and s.subject_id = any (array[e.execution_id]) and s.retry_at_ms > flowfabric.ff_now_ms())
      -- end of inScope
    order by e.delay_until_ms, e.execution_id
    limit $1)
    -- end of due
  union all
  select e.execution_id, e.xmin
  from unnest($5::uuid[]) as o (execution_id)
  join flowfabric.ff_exec_core e on e.execution_id = any (array[o.execution_id])
),
-- end of candidates
-- from src/engine/kernel/candidate.ts: lockedExecutions
target as materialized (
  select e.*
  from candidate c
  join flowfabric.ff_exec_core e on e.execution_id = any (array[c.execution_id]) and e.xmin = c.seen_xmin
  order by c.execution_id
  for no key update of e skip locked
),
-- from src/engine/kernel/after-lock.ts: clockAfter
clock as materialized (
  select flowfabric.ff_now_ms() as now_ms
  from target
  having count(*) >= 0
),
-- end of clockAfter
looked as materialized (
  select t.*, c.now_ms
  from target t
  cross join clock c
),
-- end of lockedExecutions
promoted as (
  update flowfabric.ff_exec_core e
  set eligibility_state = 'eligible_now',
    delay_until_ms = null,
    last_mutation_at_ms = greatest(k.now_ms, k.last_mutation_at_ms)
  from looked k
  where e.execution_id = any (array[k.execution_id]) and k.delay_until_ms <= k.now_ms
  returning e.execution_id, e.queue_id, e.priority, e.rank, e.public_state
),
readied as (
  insert into flowfabric.ff_ready (queue_id, neg_priority, resumed, rank, execution_id)
  select queue_id, -priority, public_state = 'resumable', rank, execution_id
  from promoted
),
-- from src/engine/kernel/candidate.ts: takenUp
taken_up as (
  delete from flowfabric.ff_set_aside s
  where s.duty = 'delayed-promoter'
    and (s.subject_id in (select execution_id from promoted)
      or s.retry_at_ms < flowfabric.ff_now_ms() - 3600000)
)
-- end of takenUp
-- from src/engine/kernel/candidate.ts: sweptOwing
select (select count(*) from candidate) as seen,
  (select count(*) from promoted) as processed,
  coalesce((select array_agg(distinct queue_id) from promoted), '{}'::int4[]) as ready_queue_ids,
  0 as owes, '{}'::uuid[] as called_off_ids
-- end of sweptOwing
