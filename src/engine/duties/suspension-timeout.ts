// A suspension that nobody answered in time, each in the way that it was given:
//   fail, cancel, expire              the execution ends so
//   escalate                          it goes on waiting, and says so; from now on the second deadline counts, if there is one
//   auto_resume_with_timeout_signal   it goes on with a signal of that name, and with the evaluation of the signals that had arrived by then
// A suspension whose condition time has satisfied meanwhile cannot time out: it wakes. One of whose children has ended waits
// for what that means: whoever resolves the ending tells it.
import { attached } from '../../model/attached.ts'
import { statement } from '../../sql/statement.ts'
import { clockAfter } from '../kernel/after-lock.ts'
import { askedBy, askToStop, isAskedByLimitSql } from '../transition/ask-to-stop.ts'
import { endExecutionsClosing } from '../transition/ending.ts'
import { childLeaves, uuidOfLeaf } from '../waiting/suspension/open-suspensions.ts'
import { candidates, inScope, dutyParams, dutyRow, dutyAnswerOfEndings, takenUp } from '../kernel/candidate.ts'
import { together, type Duty } from '../kernel/duty.ts'
import { evaluatedDuty } from './evaluated-duty.ts'
import { scopeOf } from '../kernel/scope.ts'
import { runDuty, dutySteps } from '../kernel/run-duty.ts'

const name = 'suspension-timeout'
const timer = 'ff_suspension_current.timeout_at_ms'

/** What the deadline does that `s` has now. */
const behaviour = `case when s.escalated_at_ms is null then s.timeout_behavior else s.second_behavior end`

// Only these need the condition, which is judged outside the database.
const isJudged = `(${behaviour} = 'auto_resume_with_timeout_signal' or s.wake_at_ms <= flowfabric.ff_now_ms())`

function dueWhere(condition: string): string {
  return `
select e.execution_id, e.xmin as seen_xmin
from flowfabric.ff_suspension_current s
join flowfabric.ff_exec_core e on e.execution_id = any (array[s.execution_id])
where s.timeout_at_ms < flowfabric.ff_now_ms()
  and ${condition}
  and ${inScope(name)}
order by s.timeout_at_ms, s.execution_id
limit $1`
}

const closeReason = `'timed_out_' || case d.terminal_outcome
      when 'failed' then 'fail' when 'cancelled' then 'cancel' else 'expire' end`

const outcome = `case o.behaviour when 'fail' then 'failed' when 'cancel' then 'cancelled' else 'expired'
      end::flowfabric.ff_terminal_outcome`

const dueUnjudged = dueWhere(`${isJudged} is not true`)

// Locks the suspension too, after its execution: a signal may have brought its moment nearer and touched nothing else. The
// execution is written by an escalation as well, so that two sweeps never see the same deadline.
const timeOut = statement({
  name: `duty.${name}`,
  params: dutyParams,
  row: dutyRow,
  text: `
with ${candidates(dueUnjudged)},
target as materialized (
  select e.*, ${behaviour} as behaviour, s.timeout_at_ms, s.wake_at_ms, s.second_timeout_ms,
    jsonb_path_exists(s.condition, '$.** ? (@.kind == "timeout")') as waits_for_timeout,
    case when e.attached & ${attached.children} <> 0 then s.condition end as condition_of_parent
  from candidate c
  join flowfabric.ff_exec_core e on e.execution_id = any (array[c.execution_id]) and e.xmin = c.seen_xmin
  join flowfabric.ff_suspension_current s on s.execution_id = any (array[e.execution_id])
  order by c.execution_id
  for no key update of e, s skip locked
),
${clockAfter('target')},
looked as materialized (
  select t.*, c.now_ms
  from target t
  cross join clock c
),
overdue as materialized (
  select k.*
  from looked k
  where k.timeout_at_ms < k.now_ms and k.behaviour <> 'auto_resume_with_timeout_signal'
    and (k.wake_at_ms <= k.now_ms) is not true
    and not exists (
      select
      from ${childLeaves('k.condition_of_parent')} as c (id)
      cross join lateral (
        select
        from flowfabric.ff_dispatch d
        where d.execution_id = ${uuidOfLeaf('c.id')} and d.parent_id = k.execution_id
        offset 0
      ) d)
),
asking as materialized (
  select o.*, ${askedBy('o', outcome, `'suspension_timeout_' || o.behaviour::text`, `'${name}'`)}
  from overdue o
  where o.behaviour <> 'escalate' and ${isAskedByLimitSql('o')}
),${askToStop},
ending as materialized (
  select o.*, ${outcome} as ending_outcome,
    'suspension_timeout_' || o.behaviour::text as ending_reason, '${name}' as ending_actor, o.now_ms as ended_at_ms,
    null::bytea as ending_result, null::text as ending_encoding,
    case when o.behaviour <> 'cancel' then 'timeout' end as ending_category,
    null::bytea as ending_error, null::text as ending_error_encoding
  from overdue o
  where o.behaviour <> 'escalate' and not ${isAskedByLimitSql('o')}
),
${endExecutionsClosing(closeReason)},
escalated as (
  update flowfabric.ff_exec_core e
  set last_mutation_at_ms = greatest(o.now_ms, e.last_mutation_at_ms)
  from overdue o
  where e.execution_id = any (array[o.execution_id]) and o.behaviour = 'escalate'
  returning e.execution_id, e.partition_key, e.namespace, e.flow_id, e.generation, e.attempt_index, e.last_mutation_at_ms,
    o.now_ms, o.now_ms + o.second_timeout_ms as next_timeout_at_ms, o.waits_for_timeout
),
-- A leaf that waited for the deadline is met: the condition is judged again at once, by whoever wakes what is due.
escalated_suspension as (
  update flowfabric.ff_suspension_current s
  set escalated_at_ms = d.now_ms, timeout_at_ms = d.next_timeout_at_ms,
    wake_at_ms = case when d.waits_for_timeout then d.now_ms else s.wake_at_ms end
  from escalated d
  where s.execution_id = any (array[d.execution_id])
),
escalated_event as (
  insert into flowfabric.ff_event (occurred_at_ms, execution_id, flow_id, generation, event_type, partition_key,
    namespace, actor, reason, attempt_index, details)
  select last_mutation_at_ms, execution_id, flow_id, generation, 'escalated', partition_key, namespace, '${name}',
    'suspension_timeout_escalate', attempt_index,
    jsonb_strip_nulls(jsonb_build_object('nextTimeoutAt', next_timeout_at_ms))
  from escalated
),
${takenUp(name, 'overdue')}
${dutyAnswerOfEndings('overdue', 'asked_ready')}`,
})

const unjudged = dutySteps(name, dueUnjudged, timeOut)
const sweepJudged = evaluatedDuty(name, `duty.${name}.due-judged`, dueWhere(isJudged))

export const suspensionTimeout: Duty = {
  name,
  watch: { column: timer, isPrompt: true },
  intervalMs: 2000,
  async runOnce(sql, options = {}) {
    const { batch } = scopeOf(options)
    const ended = await runDuty(sql, name, unjudged(sql), options)
    const left = batch - ended.processed - ended.errors
    if (left <= 0) return ended
    return together(ended, await sweepJudged(sql, { ...options, batch: left }))
  },
}
