-- Made by `npm run sql`; do not edit.
-- duty.poll
-- src/engine/duties/poll-duties.ts: poll
-- 123 lines, 8 CTEs
--
-- parameters:
--   $1 supervisor_filter text
--   $2 taken_by text
--   $3 term_ms int8
--   $4 horizon_ms int8
--   $5 duties text[]
--   $6 filters text[]
--   $7 intervals_ms int8[]
--   $8 are_hinted bool[]
-- columns:
--   now_ms int8
--   is_polling bool
--   others_for_ms int8 or null
--   polled_ms_ago int8 or null
--   taken text[]
--   next_in_ms int8 or null
--   is_asynchronous bool

with supervisor as materialized (
  select s.duty, s.filter, s.last_run_at_ms
  from flowfabric.ff_duty s
  where s.duty = 'supervisor' and s.filter = $1
    and (s.taken_by = $2 or (s.taken_until_ms between flowfabric.ff_now_ms() + 1 and flowfabric.ff_now_ms() + $3) is not true)
  for no key update skip locked
),
-- from src/engine/kernel/after-lock.ts: clockAfter
clock as materialized (
  select flowfabric.ff_now_ms() as now_ms
  from supervisor
  having count(*) >= 0
),
-- end of clockAfter
term as (
  update flowfabric.ff_duty s
  set taken_by = $2, taken_until_ms = c.now_ms + $3, last_run_at_ms = c.now_ms,
    last_report = case
      when p.last_run_at_ms > c.now_ms + 1000
        then jsonb_build_object('setBackAt', c.now_ms, 'setBackMs', p.last_run_at_ms - c.now_ms)
      else s.last_report
    end
  from supervisor p
  cross join clock c
  where s.duty = p.duty and s.filter = p.filter
),
watched as materialized (
  select w.duty, d.filter, c.now_ms, c.now_ms + $4 as until_ms, d.last_report is null as is_new,
    d.next_at_ms between c.now_ms + 1 and c.now_ms + w.interval_ms as is_early,
    case when d.taken_by <> $2 and d.taken_until_ms between c.now_ms + 1 and c.now_ms + $3 then d.taken_until_ms
    end as taken_until_ms,
    case
      when not w.is_hinted and d.next_at_ms between c.now_ms + 1 and c.now_ms + w.interval_ms and d.last_run_at_ms <= c.now_ms
        then d.last_run_at_ms - 500
      else 0
    end as after_ms
  from supervisor
  cross join clock c
  cross join unnest($5::text[], $6::text[], $7::int8[], $8::bool[]) as w (duty, filter, interval_ms, is_hinted)
  join flowfabric.ff_duty d on d.duty = any (array[w.duty]) and d.filter = any (array[w.filter])
),
earliest as materialized (
  select w.*,
    case w.duty
      when 'delayed-promoter' then (select t.delay_until_ms from flowfabric.ff_exec_core t
        where t.delay_until_ms > 0 and t.delay_until_ms > w.after_ms and t.delay_until_ms <= w.until_ms
        order by t.delay_until_ms limit 1)
      when 'lease-expiry' then (select t.expires_at_ms from flowfabric.ff_lease t
        where t.expires_at_ms > 0 and t.expires_at_ms > w.after_ms and t.expires_at_ms <= w.until_ms
        order by t.expires_at_ms limit 1)
      when 'attempt-timeout' then (select t.attempt_deadline_at_ms from flowfabric.ff_exec_core t
        where t.attempt_deadline_at_ms > 0 and t.attempt_deadline_at_ms > w.after_ms and t.attempt_deadline_at_ms <= w.until_ms
        order by t.attempt_deadline_at_ms limit 1)
      when 'execution-deadline' then (select t.deadline_at_ms from flowfabric.ff_exec_core t
        where t.deadline_at_ms > 0 and t.deadline_at_ms > w.after_ms and t.deadline_at_ms <= w.until_ms
        order by t.deadline_at_ms limit 1)
      when 'cancel-deadline' then (select t.cancel_deadline_at_ms from flowfabric.ff_exec_core t
        where t.cancel_deadline_at_ms > 0 and t.cancel_deadline_at_ms > w.after_ms and t.cancel_deadline_at_ms <= w.until_ms
        order by t.cancel_deadline_at_ms limit 1)
      when 'dispatch' then case when not w.is_early then (select t.created_at_ms from flowfabric.ff_dispatch t
        where t.created_at_ms > 0 and t.created_at_ms > w.after_ms and t.created_at_ms <= w.until_ms
        order by t.created_at_ms limit 1) end
      when 'cancel-backlog' then case when not w.is_early then (select t.created_at_ms from flowfabric.ff_cancel_backlog t
        where t.created_at_ms > 0 and t.created_at_ms > w.after_ms and t.created_at_ms <= w.until_ms
        order by t.created_at_ms limit 1) end
      when 'suspension-timeout' then (select t.timeout_at_ms from flowfabric.ff_suspension_current t
        where t.timeout_at_ms > 0 and t.timeout_at_ms > w.after_ms and t.timeout_at_ms <= w.until_ms
        order by t.timeout_at_ms limit 1)
      when 'suspension-wake' then (select t.wake_at_ms from flowfabric.ff_suspension_current t
        where t.wake_at_ms > 0 and t.wake_at_ms > w.after_ms and t.wake_at_ms <= w.until_ms
        order by t.wake_at_ms limit 1)
      when 'schedule-fire' then (select t.next_fire_at_ms from flowfabric.ff_schedule t
        where t.next_fire_at_ms > 0 and t.next_fire_at_ms > w.after_ms and t.next_fire_at_ms <= w.until_ms
        order by t.next_fire_at_ms limit 1)
      when 'waitpoint-expiry' then case when not w.is_early then (select t.expires_at_ms from flowfabric.ff_waitpoint_pending t
        where t.expires_at_ms > 0 and t.expires_at_ms > w.after_ms and t.expires_at_ms <= w.until_ms
        order by t.expires_at_ms limit 1) end
      when 'grant-expiry' then case when not w.is_early then (select t.expires_at_ms from flowfabric.ff_grant t
        where t.expires_at_ms > 0 and t.expires_at_ms > w.after_ms and t.expires_at_ms <= w.until_ms
        order by t.expires_at_ms limit 1) end
      when 'key-expiry' then case when not w.is_early then (select t.expires_at_ms from flowfabric.ff_idempotency_key t
        where t.expires_at_ms > 0 and t.expires_at_ms > w.after_ms and t.expires_at_ms <= w.until_ms
        order by t.expires_at_ms limit 1) end
      when 'signing-key-expiry' then case when not w.is_early then (select t.expires_at_ms from flowfabric.ff_waitpoint_hmac t
        where t.expires_at_ms > 0 and t.expires_at_ms > w.after_ms and t.expires_at_ms <= w.until_ms and t.secret is not null
        order by t.expires_at_ms limit 1) end
      when 'worker-expiry' then case when not w.is_early then (select t.expires_at_ms from flowfabric.ff_worker t
        where t.expires_at_ms > 0 and t.expires_at_ms > w.after_ms and t.expires_at_ms <= w.until_ms
        order by t.expires_at_ms limit 1) end
      else case when not w.is_early then 0 end
    end as due_at_ms
  from watched w
),
due as materialized (
  select e.*, (e.is_new or coalesce(e.due_at_ms <= e.now_ms, false)) and e.taken_until_ms is null as is_due
  from earliest e
),
target as materialized (
  select d.duty, d.filter, e.now_ms
  from due e
  join flowfabric.ff_duty d on d.duty = any (array[e.duty]) and d.filter = any (array[e.filter])
  where e.is_due
    and (d.taken_by = $2 or (d.taken_until_ms between e.now_ms + 1 and e.now_ms + $3) is not true)
  order by e.duty
  for no key update of d skip locked
),
taken as (
  update flowfabric.ff_duty d
  set taken_by = $2, taken_until_ms = t.now_ms + $3
  from target t
  where d.duty = t.duty and d.filter = t.filter
  returning d.duty
)
select c.now_ms,
  exists (select from supervisor) as is_polling,
  (select s.taken_until_ms - c.now_ms
    from flowfabric.ff_duty s
    where s.duty = 'supervisor' and s.filter = $1) as others_for_ms,
  (select c.now_ms - p.last_run_at_ms from supervisor p) as polled_ms_ago,
  array(select duty from taken) as taken,
  (select min(greatest(e.due_at_ms, e.taken_until_ms)) - c.now_ms
    from due e
    where not e.is_due and e.due_at_ms is not null) as next_in_ms,
  set_config('synchronous_commit', 'off', true) is not null as is_asynchronous
from clock c
