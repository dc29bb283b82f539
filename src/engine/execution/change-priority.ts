// A new priority for any execution that has not ended. A ready execution moves within its queue at once.
import { EngineError } from '../../model/errors.ts'
import type { RequestOf } from '../../model/field.ts'
import type { ExecutionId } from '../../model/id.ts'
import { priority } from '../../model/named-fields.ts'
import { isEnded, type PublicState } from '../../model/state.ts'
import { call, type Sql } from '../../sql/sql.ts'
import { oneOf, statement } from '../../sql/statement.ts'
import { clockAfter } from '../kernel/after-lock.ts'
import type { SetOperation } from '../kernel/merge.ts'
import type { ItemOf } from '../kernel/set-request.ts'
import { operatorRequest } from '../transition/operator-request.ts'
import { lockedTarget, operatorSet, readyAgain, targetAnswer } from '../transition/operator-set.ts'

export const changePriorityRequest = operatorRequest('changePriority', {
  /** 0 to 9000. A value outside is clamped, and the result states the value that is used. */
  priority: priority.inColumn('new_priority'),
})

export interface ChangePriorityRequest extends RequestOf<typeof changePriorityRequest.fields> {}

export interface PriorityChanged {
  readonly kind: 'priority_changed'
  readonly executionId: ExecutionId
  readonly from: number
  readonly to: number
}

const row = {
  ordinal: 'int8',
  queue_id: 'int4',
  public_state: oneOf<PublicState | null>(),
  priority: 'int2?',
} as const

const changeStatement = statement({
  name: 'execution.change-priority',
  params: changePriorityRequest.params,
  row,
  text: `
${changePriorityRequest.input},
${lockedTarget(...changePriorityRequest.columns)},
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
logged as (
  insert into flowfabric.ff_event (occurred_at_ms, execution_id, flow_id, generation, event_type, partition_key,
    namespace, actor, details)
  select last_mutation_at_ms, execution_id, flow_id, generation, 'priority_changed', partition_key, namespace, actor,
    jsonb_build_object('from', old_priority, 'to', priority)
  from changed
)
${targetAnswer('target', row)}`,
})

export function changePriorityOperation(sql: Sql): SetOperation<ItemOf<typeof changePriorityRequest>, PriorityChanged> {
  return operatorSet(
    sql,
    (items) => call(changeStatement, changePriorityRequest.values(items)),
    ({ executionId, priority }, found) => {
      const state = found.public_state!
      if (isEnded(state)) {
        const sentence = `execution ${executionId} is ${state}; its priority has no effect any more. Replay it first`
        return new EngineError('execution_terminal', sentence, { executionId, publicState: state })
      }
      return { kind: 'priority_changed', executionId, from: found.priority!, to: priority }
    },
    (_items, rows) => readyAgain(rows),
  )
}
