// Cancels a flow. Under the lock of its tree, the flow and the flows inside it are marked and closed. The members to cancel
// leave their queues and are added to the backlog; the statement waits for no member. Then this process ends them in sets,
// or the duty does if the process dies. A claim or a duty may make a member ready meanwhile; claims skip it, because they
// read the mark. Members that have ended keep their ending; blocked ones end cancelled, never skipped. The members that
// continue are sealed: they accept no more edges.
import { setTimeout as pause } from 'node:timers/promises'
import { attached } from '../../model/attached.ts'
import { EngineError } from '../../model/errors.ts'
import { formatExecutionId, type ExecutionId, type FlowId } from '../../model/id.ts'
import { id, word } from '../../model/field-kinds.ts'
import { checkFields, type RequestOf } from '../../model/field.ts'
import { reason, wait } from '../../model/named-fields.ts'
import type { TerminalOutcome } from '../../model/state.ts'
import { call, type Sql } from '../../sql/sql.ts'
import { oneOf, statement } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import type { Publish } from '../kernel/effects.ts'
import { clockAfter } from '../kernel/after-lock.ts'
import { within } from '../kernel/closing.ts'
import { orWriteAgain } from '../dispatch/cancel-backlog.ts'
import { pendingDispatch } from '../kernel/pending-dispatch.ts'
import { untilSent } from '../kernel/resend.ts'
import { goesWithFlowSql } from '../transition/cancelled-flow.ts'
import { checkFlowTarget, flowNotFound, lockTree } from './edit.ts'
import { changeFlows, endCancelledFlows } from '../transition/flow-ending.ts'
import { oweDispatch, owedAnswer, owedRow } from './owe-dispatch.ts'
import { lostUpstreams, sealGroups } from './seal-groups.ts'
import { wholeFlow } from '../transition/whole-flow.ts'

export const cancelPolicies = ['cancel_all', 'cancel_pending', 'flow_only'] as const
/** All members that have not ended; those that never ran; or none, and they continue. */
export type CancelPolicy = (typeof cancelPolicies)[number]

export const cancelFlowFields = {
  flowId: id('flow'),
  /** Defaults to `cancel_all`. */
  policy: word(cancelPolicies, 'CancelPolicy').default('cancel_all'),
  reason: reason.optional(),
  /** How long to wait for the members' endings. Left out: they end soon after the call returns. */
  wait: wait.optional(),
}

export interface CancelFlowRequest extends RequestOf<typeof cancelFlowFields> {}

export interface CancelFlowResult {
  /**
   * `cancelled`: the flow and the members that its policy names; `cancellation_scheduled`: these members end soon;
   * `already_cancelled`: an earlier cancel, whose policy and reason stay.
   */
  readonly kind: 'cancelled' | 'cancellation_scheduled' | 'already_cancelled'
  readonly flowId: FlowId
  readonly policy: CancelPolicy
  readonly reason: string | null
  /** The number of members that are cancelled with it, including those of flows inside it. */
  readonly memberCount: number
  /** The first thousand of them. */
  readonly memberIds: readonly ExecutionId[]
}

const mostIds = 1000

// Sent after the lock. It locks edge groups, so it is sent before the statement that locks executions. Flows inside this
// one are sealed from the start.
const sealStatement = statement({
  name: 'flow.cancel.seal',
  params: { flow_id: 'uuid', partition_key: 'int2', namespace: 'text?' },
  row: owedRow,
  text: `
with changed as materialized (
  select f.flow_id, flowfabric.ff_now_ms() as now_ms
  from flowfabric.ff_flow_core f
  where f.flow_id = $1 and f.partition_key = $2 and ($3::text is null or f.namespace = $3)
    and f.outcome = 'none' and f.cancel_policy is null
),
${sealGroups('g.flow_id = any (array[c.flow_id])')},
${oweDispatch('changed', lostUpstreams)}
${owedAnswer}`,
})

// Sent after the lock, so that it reads the current tree. An execution is locked only if its ready row is deleted. It is
// skipped if another transaction has locked it, or has changed it since; then the claim skips the ready row.
const cancelStatement = statement({
  name: 'flow.cancel',
  params: {
    flow_id: 'uuid',
    partition_key: 'int2',
    namespace: 'text?',
    cancel_policy: 'text',
    reason: 'text?',
    actor: 'text',
  },
  row: {
    outcome: oneOf<TerminalOutcome>(),
    old_policy: oneOf<CancelPolicy | null>(),
    old_reason: 'text?',
    member_count: 'int8',
    member_ids: 'uuid[]',
    ended_flow_ids: 'uuid[]',
  },
  text: `
with recursive asked as materialized (
  select f.flow_id, f.ctid as flow_row, f.root_flow_id, f.outcome, f.cancel_policy, f.cancel_reason,
    $4::text::flowfabric.ff_cancel_policy as policy
  from flowfabric.ff_flow_core f
  where f.flow_id = $1 and f.partition_key = $2 and ($3::text is null or f.namespace = $3)
),
marked as (
  select flow_id, flow_row, policy
  from asked
  where outcome = 'none' and cancel_policy is null
  union all
  select i.flow_id, i.ctid, k.policy
  from marked k
  join flowfabric.ff_flow_member m on m.flow_id = any (array[k.flow_id])
  join flowfabric.ff_flow_core i on i.flow_id = any (array[m.sub_flow_id])
  where k.policy <> 'flow_only' and i.ended_at_ms is null
),
${clockAfter('asked')},
-- A member that represents a flow ends with that flow.
member as materialized (
  select e.*
  from marked k
  cross join lateral (
    select e.execution_id, e.generation, e.flow_id, e.eligibility_state, e.xmin as seen_xmin
    from flowfabric.ff_flow_member m
    join flowfabric.ff_exec_core e on e.execution_id = any (array[m.execution_id])
    where m.flow_id = k.flow_id and e.lifecycle_phase <> 'terminal' and e.attached & ${attached.subFlow} = 0
      and ${goesWithFlowSql('k.policy', 'e.started_at_ms')}
    offset 0
  ) e
),
flow_change as materialized (
  select k.flow_id, k.flow_row, 0 as success, 0 as failed, 0 as cancelled, 0 as expired, 0 as skipped, true as closes,
    false as begins, k.policy as marks, $5::text as mark_reason, $6::text as change_actor, c.now_ms
  from marked k
  cross join clock c
  union all
  select r.flow_id, r.ctid, 0, 0, 0, 0, 0, false, false, null, null, $6, c.now_ms
  from asked a
  join flowfabric.ff_flow_core r on r.flow_id = any (array[a.root_flow_id])
  cross join clock c
  where a.root_flow_id <> a.flow_id and a.outcome = 'none' and a.cancel_policy is null
),
${endCancelledFlows},
${changeFlows('flow_after')},
backlogged as (
  insert into flowfabric.ff_cancel_backlog as b (execution_id, generation, flow_id, created_at_ms, reason, actor)
  select m.execution_id, m.generation, m.flow_id, c.now_ms, 'flow_cancelled', 'cancel_flow'
  from member m
  cross join clock c
  union all
  select e.execution_id, e.generation, e.flow_id, a.now_ms, 'flow_cancelled', 'cancel_flow'
  from flow_after a
  join flowfabric.ff_exec_core e on e.execution_id = any (array[a.standing_id])
  ${orWriteAgain}
),
ready as materialized (
  select e.queue_id, e.priority, e.rank, e.execution_id
  from member m
  join flowfabric.ff_exec_core e on e.execution_id = any (array[m.execution_id]) and e.xmin = m.seen_xmin
  where m.eligibility_state = 'eligible_now'
  order by m.execution_id
  for no key update of e skip locked
),
unready as (
  delete from flowfabric.ff_ready r
  using ready e
  where r.queue_id = any (array[e.queue_id]) and r.neg_priority = -e.priority and r.rank = e.rank and r.execution_id = e.execution_id
)
select a.outcome, a.cancel_policy as old_policy, a.cancel_reason as old_reason, (select count(*) from member) as member_count,
  array(select execution_id from member order by execution_id limit ${mostIds}) as member_ids,
  array(select flow_id from changed_flow where is_ending) as ended_flow_ids
from asked a`,
})

const readCancelled = statement({
  name: 'flow.cancel.members',
  params: { flow_id: 'uuid' },
  row: { member_count: 'int8', member_ids: 'uuid[]' },
  text: `
with member as materialized (
  select e.execution_id
  from flowfabric.ff_flow_member m
  join flowfabric.ff_exec_core e on e.execution_id = any (array[m.execution_id])
  where m.flow_id = any (array[$1::uuid])
    -- In any generation: it may have restarted since, but was not replayed.
    and (e.cancellation_reason = 'flow_cancelled' or (
      select b.generation
      from flowfabric.ff_cancel_backlog b
      where b.execution_id = any (array[e.execution_id]) and b.reason = 'flow_cancelled'
      limit 1) is not null)
)
select (select count(*) from member) as member_count,
  array(select execution_id from member order by execution_id limit ${mostIds}) as member_ids`,
})

const readBacklog = statement({
  name: 'flow.cancel.backlog',
  params: { flow_id: 'uuid' },
  row: { is_waiting: 'bool' },
  text: `
select exists (
  select
  from flowfabric.ff_flow_core f
  join flowfabric.ff_flow_core i on i.root_flow_id = any (array[f.root_flow_id])
  where f.flow_id = $1
    and coalesce(
      (select b.flow_id from flowfabric.ff_cancel_backlog b where b.flow_id = any (array[i.flow_id]) limit 1),
      (select d.flow_id from flowfabric.ff_dispatch d where d.flow_id = any (array[i.flow_id]) limit 1)) is not null
) as is_waiting`,
})

const lockTimeoutMs = 2000

interface Dispatching {
  start(pending: number): void
  idle(): Promise<void>
}

interface CancelDeps {
  readonly sql: Sql
  readonly dispatcher: Dispatching
  /** The effects are published before the call waits for the endings of the members. */
  readonly publish: Publish
}

/** A caller that waits uses `dispatcher` even where this process leaves other dispatching to the duties. */
export async function cancelFlow(
  { sql, dispatcher, publish }: CancelDeps,
  caller: Caller,
  request: CancelFlowRequest,
): Promise<CancelFlowResult> {
  const { policy, reason, waitMs } = checkFields('cancel', cancelFlowFields, request)
  const target = checkFlowTarget(caller, request.flowId)
  const { flowId, partition, uuid, namespace, actor } = target
  const flow = { flow_id: uuid, partition_key: partition, namespace }
  const sending = { again: false }
  const [, , [found]] = await untilSent(sql, sending, () =>
    sql.pipeline(
      [
        call(lockTree, { flow_id: uuid }),
        call(sealStatement, flow),
        call(cancelStatement, { ...flow, cancel_policy: policy, reason, actor }),
      ],
      { lockTimeoutMs, ...wholeFlow },
    ),
  )
  if (found === undefined) throw flowNotFound(flowId)
  publish({ endedFlowIds: found.ended_flow_ids, wroteEvents: true })
  const isRepeat = found.old_policy !== null
  // The reply was lost: this is the result of the first send.
  const isOurs = sending.again && found.old_policy === policy && found.old_reason === reason
  if (!isRepeat && found.outcome !== 'none') throw hasEnded(flowId, found.outcome)
  const [members] = isRepeat ? await sql.query(readCancelled, { flow_id: uuid }) : [found]
  const answer = {
    flowId,
    policy: found.old_policy ?? policy,
    reason: isRepeat ? found.old_reason : reason,
    memberCount: members!.member_count,
    memberIds: members!.member_ids.map((id) => formatExecutionId(partition, id)),
  }
  if (waitMs === null) publish({ pendingDispatch: pendingDispatch.cancels | pendingDispatch.flow })
  const isDone = waitMs !== null && (await awaitEndings(sql, dispatcher, uuid, waitMs))
  if (isRepeat && !isOurs) return { kind: 'already_cancelled', ...answer }
  return { kind: isDone || answer.memberCount === 0 ? 'cancelled' : 'cancellation_scheduled', ...answer }
}

function hasEnded(flowId: FlowId, outcome: TerminalOutcome): EngineError {
  const sentence = `flow ${flowId} has already ended (${outcome}) and cannot be cancelled`
  return new EngineError('flow_terminal', sentence, { flowId, outcome })
}

const shortestPauseMs = 2
const longestPauseMs = 100

/**
 * Waits until the members have ended and their flows are resolved, or until the time is over; then some may be left. The
 * dispatcher may be busy with other flows for any time.
 */
async function awaitEndings(sql: Sql, dispatcher: Dispatching, uuid: string, waitMs: number): Promise<boolean> {
  const until = performance.now() + waitMs
  for (let pauseMs = shortestPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    dispatcher.start(pendingDispatch.cancels | pendingDispatch.flow)
    await within(Math.min(longestPauseMs, Math.max(0, until - performance.now())), dispatcher.idle())
    const [backlog] = await sql.query(readBacklog, { flow_id: uuid })
    if (!backlog!.is_waiting) return true
    if (performance.now() >= until) return false
    await pause(pauseMs)
  }
}
