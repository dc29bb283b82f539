// Replay: what has ended runs once more, as a new generation. Counts of retries and reclaims begin anew, totals and the
// results of older generations stay. A deadline that was given as a duration starts anew; a fixed one that has passed is
// dropped, and the answer says so.
import { attached } from '../../model/attached.ts'
import { EngineError } from '../../model/errors.ts'
import type { ExecutionId } from '../../model/id.ts'
import { limits } from '../../model/limits.ts'
import { refuseUnknownFields } from '../../model/shape.ts'
import { isEnded, type PublicState } from '../../model/state.ts'
import { checkText } from '../../model/text.ts'
import { call, type Sql } from '../../sql/sql.ts'
import { oneOf, statement } from '../../sql/statement.ts'
import type { Caller } from '../caller.ts'
import type { SetOperation } from '../merge.ts'
import { hasMoreToClose } from './ending.ts'
import {
  checkTarget,
  lockedTarget,
  operatorSet,
  targetAnswer,
  targetInput,
  targetParams,
  targetValues,
  type Target,
} from './operator-set.ts'

export interface ReplayRequest {
  readonly executionId: ExecutionId
  readonly reason?: string
}

export interface Replayed {
  readonly kind: 'replayed'
  readonly executionId: ExecutionId
  readonly generation: number
  readonly replayCount: number
  readonly from: PublicState
  readonly deadlineAt: number | null
  /** The fixed deadline had passed and no longer holds. */
  readonly deadlineDropped: boolean
}

export interface Replay extends Target {
  readonly reason: string | null
}

export function checkReplayRequest(caller: Caller, request: ReplayRequest): Replay {
  refuseUnknownFields('replay', request, ['executionId', 'reason'])
  const { executionId, reason } = request
  return {
    ...checkTarget(caller, executionId),
    reason: reason === undefined ? null : checkText('reason', reason, { maxBytes: limits.reasonBytes }),
  }
}

const own = {
  public_state: 'flowfabric.ff_public_state',
  generation: 'int4',
  replay_count: 'int4',
  most_replays: 'int4',
  next_deadline_ms: 'int8',
  deadline_dropped: 'bool',
} as const
const row = {
  ordinal: 'int8',
  is_locked: 'bool',
  queue_id: 'int4',
  public_state: oneOf<PublicState | null>(),
  generation: 'int4?',
  replay_count: 'int4?',
  most_replays: 'int4?',
  next_deadline_ms: 'int8?',
  deadline_dropped: 'bool?',
} as const

const replayStatement = statement({
  name: 'execution.replay',
  params: { ...targetParams, reasons: 'text?[]' },
  row,
  text: `
with input as materialized (
  select *
  from unnest($1::uuid[], $2::int2[], $3::text[], $4::text[], $5::text[])
    with ordinality as i (${targetInput}, reason, ordinal)
),
${lockedTarget('reason')},
judged as materialized (
  select t.*, c.now_ms,
    coalesce((n.policy ->> 'maxReplayCount')::int4, ${limits.defaultReplayCount}) as most_replays,
    case when n.deadline_after_ms is not null then c.now_ms + n.deadline_after_ms
      when n.deadline_at_ms > c.now_ms then n.deadline_at_ms end as next_deadline_ms,
    coalesce(n.deadline_at_ms <= c.now_ms, false) as deadline_dropped
  from target t
  cross join lateral (select t.ordinal as of, flowfabric.ff_now_ms() as now_ms offset 0) c
  join flowfabric.ff_exec_input n on n.partition_key = any (array[t.partition_key]) and n.execution_id = any (array[t.execution_id])
),
replayed as (
  update flowfabric.ff_exec_core e
  set lifecycle_phase = 'runnable',
    eligibility_state = 'eligible_now',
    attempt_state = 'pending_replay_attempt',
    terminal_outcome = 'none',
    terminal_at_ms = null,
    generation = j.generation + 1,
    replay_count = j.replay_count + 1,
    retry_count = 0,
    lease_reclaim_count = 0,
    attached = j.attached & ~${attached.grant | hasMoreToClose},
    deadline_at_ms = j.next_deadline_ms,
    cancel_requested_at_ms = null,
    failure_reason = null,
    cancellation_reason = null,
    cancelled_by = null,
    last_mutation_at_ms = greatest(j.now_ms, j.last_mutation_at_ms)
  from judged j
  where e.execution_id = any (array[j.execution_id]) and j.lifecycle_phase = 'terminal' and j.replay_count < j.most_replays
  returning e.execution_id, e.partition_key, e.namespace, e.flow_id, e.generation, e.queue_id, e.priority, e.rank,
    e.last_mutation_at_ms, j.actor, j.reason, j.terminal_outcome as old_outcome, j.attempt_index as old_attempt_index
),
ready as (
  insert into flowfabric.ff_ready (queue_id, neg_priority, resumed, rank, execution_id)
  select queue_id, -priority, false, rank, execution_id
  from replayed
),
-- A grant was for the generation that has ended.
ungranted as (
  delete from flowfabric.ff_grant g
  using replayed d
  where g.execution_id = any (array[d.execution_id])
),
told as (
  insert into flowfabric.ff_event (occurred_at_ms, execution_id, flow_id, generation, event_type, partition_key,
    namespace, actor, reason, details)
  select last_mutation_at_ms, execution_id, flow_id, generation, 'replayed', partition_key, namespace, actor, reason,
    jsonb_build_object('outcome', old_outcome, 'attemptIndex', old_attempt_index)
  from replayed
)
${targetAnswer('judged', own)}`,
})

export function replayOperation(
  sql: Sql,
  onReady: (queueIds: Iterable<number>) => void,
): SetOperation<Replay, Replayed> {
  return operatorSet(
    sql,
    (items) => call(replayStatement, { ...targetValues(items), reasons: items.map((item) => item.reason) }),
    ({ executionId }, found) => {
      const from = found.public_state!
      const count = found.replay_count!
      if (!isEnded(from)) {
        const sentence = `execution ${executionId} is ${from}; replay needs one that has ended`
        return new EngineError('execution_not_terminal', sentence, { executionId, publicState: from })
      }
      if (count >= found.most_replays!) {
        const sentence = `execution ${executionId} was replayed ${count} times, which is the most; create a new one`
        return new EngineError('replay_limit', sentence, { executionId, replayCount: count })
      }
      return {
        kind: 'replayed',
        executionId,
        generation: found.generation! + 1,
        replayCount: count + 1,
        from,
        deadlineAt: found.next_deadline_ms,
        deadlineDropped: found.deadline_dropped!,
      }
    },
    // It may have run and ended since: a second replay would be one more.
    { onReady, onlyOnce: true },
  )
}
