// A new priority for any execution that has not ended. What is ready moves within its queue at once.
import { EngineError } from '../../model/errors.ts'
import type { ExecutionId } from '../../model/id.ts'
import { clampPriority } from '../../model/policy.ts'
import { refuseUnknownFields } from '../../model/shape.ts'
import { isEnded, type PublicState } from '../../model/state.ts'
import { call, type Sql } from '../../sql/sql.ts'
import { oneOf, statement } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import { clockAfter } from '../kernel/after-lock.ts'
import type { SetOperation } from '../kernel/merge.ts'
import {
  checkTarget,
  lockedTarget,
  operatorSet,
  targetAnswer,
  targetInput,
  targetParams,
  targetValues,
  type Target,
} from '../transition/operator-set.ts'

export interface ChangePriorityRequest {
  readonly executionId: string
  /** 0 to 9000; a value outside is clamped, and the answer says what was used. */
  readonly priority: number
}

export interface PriorityChanged {
  readonly kind: 'priority_changed'
  readonly executionId: ExecutionId
  readonly from: number
  readonly to: number
}

export interface PriorityChange extends Target {
  readonly priority: number
}

export function checkChangePriorityRequest(caller: Caller, request: ChangePriorityRequest): PriorityChange {
  refuseUnknownFields('changePriority', request, ['executionId', 'priority'])
  return { ...checkTarget(caller, request.executionId), priority: clampPriority(request.priority).priority }
}

const row = {
  ordinal: 'int8',
  is_locked: 'bool',
  queue_id: 'int4',
  public_state: oneOf<PublicState | null>(),
  priority: 'int2?',
} as const

const changeStatement = statement({
  name: 'execution.change-priority',
  params: { ...targetParams, priorities: 'int2[]' },
  row,
  text: `
with input as materialized (
  select *
  from unnest($1::uuid[], $2::int2[], $3::text[], $4::text[], $5::int2[])
    with ordinality as i (${targetInput}, new_priority, ordinal)
),
${lockedTarget('new_priority')},
${clockAfter('target')},
changing as materialized (
  select t.*, c.now_ms
  from target t
  cross join clock c
  where t.lifecycle_phase <> 'terminal' and t.priority <> t.new_priority
),
changed as (
  update flowfabric.ff_exec_core e
  set priority = c.new_priority, last_mutation_at_ms = greatest(c.now_ms, c.last_mutation_at_ms)
  from changing c
  where e.execution_id = any (array[c.execution_id])
  returning e.execution_id, e.partition_key, e.namespace, e.flow_id, e.generation, e.priority, e.last_mutation_at_ms,
    c.priority as old_priority, c.actor
),
moved as (
  update flowfabric.ff_ready r
  set neg_priority = -c.new_priority
  from changing c
  where c.eligibility_state = 'eligible_now'
    and r.queue_id = any (array[c.queue_id]) and r.neg_priority = -c.priority
    and r.rank = c.rank and r.execution_id = any (array[c.execution_id])
),
told as (
  insert into flowfabric.ff_event (occurred_at_ms, execution_id, flow_id, generation, event_type, partition_key,
    namespace, actor, details)
  select last_mutation_at_ms, execution_id, flow_id, generation, 'priority_changed', partition_key, namespace, actor,
    jsonb_build_object('from', old_priority, 'to', priority)
  from changed
)
${targetAnswer('target', { public_state: 'flowfabric.ff_public_state', priority: 'int2' })}`,
})

export function changePriorityOperation(
  sql: Sql,
  onReady: (queueIds: Iterable<number>) => void,
): SetOperation<PriorityChange, PriorityChanged> {
  return operatorSet(
    sql,
    (items) => call(changeStatement, { ...targetValues(items), priorities: items.map((item) => item.priority) }),
    ({ executionId, priority }, found) => {
      const state = found.public_state!
      if (isEnded(state)) {
        const sentence = `execution ${executionId} is ${state}; its priority has no effect any more. Replay it first`
        return new EngineError('execution_terminal', sentence, { executionId, publicState: state })
      }
      return { kind: 'priority_changed', executionId, from: found.priority!, to: priority }
    },
    { onReady },
  )
}
