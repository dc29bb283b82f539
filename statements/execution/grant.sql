-- Made by `npm run sql`; do not edit.
-- execution.grant
-- src/engine/execution/grant.ts: grantStatement
-- 53 lines, 6 CTEs
--
-- parameters:
--   $1 execution_ids uuid[]
--   $2 partition_keys int2[]
--   $3 namespaces text[] with nulls
--   $4 actors text[]
--   $5 worker_id text[]
--   $6 worker_instance_id text[]
--   $7 ttl_ms int8[]
--   $8 new_grant_id uuid[]
--   $9 served jsonb[]
-- columns:
--   ordinal int8
--   queue_id int4
--   public_state text
--   is_eligible bool or null
--   is_granted bool or null
--   granted_until_ms int8 or null
--   needed_kind text or null
--   needed_version text or null
--   needed_capabilities text[]

-- from src/engine/kernel/set-request.ts: inputText
with input as materialized (
  select *
  from unnest($1::uuid[], $2::int2[], $3::text[], $4::text[], $5::text[], $6::text[], $7::int8[], $8::uuid[], $9::jsonb[])
    with ordinality as i (execution_id, partition_key, namespace, actor, worker_id, worker_instance_id, ttl_ms, new_grant_id, served,
      ordinal)
),
-- end of inputText
-- from src/engine/transition/operator-set.ts: lockedTarget
target as materialized (
  select e.*, i.ordinal, i.actor, i.worker_id, i.worker_instance_id, i.ttl_ms, i.new_grant_id, i.served
  from input i
  join flowfabric.ff_exec_core e
    on e.execution_id = any (array[i.execution_id])
    and e.partition_key = i.partition_key
    and (i.namespace is null or e.namespace = i.namespace)
),
-- end of lockedTarget
-- from src/engine/kernel/after-lock.ts: clockAfter
clock as materialized (
  select flowfabric.ff_now_ms() as now_ms
  from target
  having count(*) >= 0
),
-- end of clockAfter
evaluated as materialized (
  select t.*, c.now_ms, t.eligibility_state = 'eligible_now' as is_eligible,
    coalesce(g.expires_at_ms > c.now_ms and g.grant_id <> t.new_grant_id, false) as is_granted,
    coalesce(g.grant_id = t.new_grant_id, false) as is_given,
    case when g.grant_id = t.new_grant_id then g.expires_at_ms else c.now_ms + t.ttl_ms end as granted_until_ms,
    -- from src/engine/queue/served.ts: isServedSql
    (t.served -> 'kinds' = 'null' or q.execution_kind = any (array(select jsonb_array_elements_text(nullif(t.served -> 'kinds', 'null')))))
    and (q.task_version = '' or q.task_version = any (array(select jsonb_array_elements_text(nullif(t.served -> 'versions', 'null')))))
    and q.required_capabilities <@ array(select jsonb_array_elements_text(nullif(t.served -> 'capabilities', 'null'))) as is_served,
    q.execution_kind as needed_kind, q.task_version as needed_version,
    -- end of isServedSql
    q.required_capabilities as needed_capabilities
  from target t
  cross join clock c
  join flowfabric.ff_queue q on q.queue_id = any (array[t.queue_id])
  left join flowfabric.ff_grant g on g.execution_id = any (array[t.execution_id])
),
granted as (
  insert into flowfabric.ff_grant as g
    (execution_id, grant_id, granted_at_ms, expires_at_ms, worker_id, worker_instance_id)
  select execution_id, new_grant_id, now_ms, granted_until_ms, worker_id, worker_instance_id
  from evaluated
  where is_eligible and is_served and not is_granted and not is_given
  on conflict (execution_id) do update
  set grant_id = excluded.grant_id, granted_at_ms = excluded.granted_at_ms, expires_at_ms = excluded.expires_at_ms,
    worker_id = excluded.worker_id, worker_instance_id = excluded.worker_instance_id
  returning g.execution_id
),
marked as (
  update flowfabric.ff_exec_core e
  set attached = e.attached | 128 /* grant */
  from granted g
  where e.execution_id = any (array[g.execution_id])
)
-- from src/engine/transition/operator-set.ts: targetAnswer
select v.ordinal, v.queue_id, v.public_state, v.is_eligible, v.is_granted, v.granted_until_ms, v.needed_kind, v.needed_version,
  v.needed_capabilities
from evaluated v
-- end of targetAnswer
