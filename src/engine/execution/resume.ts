// Resume: an operator ends the suspension of an execution, whether or not its condition is satisfied. A condition that only
// an operator can satisfy has no other way out.
import { EngineError } from '../../model/errors.ts'
import { duration } from '../../model/field-kinds.ts'
import type { RequestOf } from '../../model/field.ts'
import type { ExecutionId } from '../../model/id.ts'
import { reason } from '../../model/named-fields.ts'
import type { PublicState } from '../../model/state.ts'
import { call, type Sql } from '../../sql/sql.ts'
import { oneOf, statement } from '../../sql/statement.ts'
import { clockAfter } from '../kernel/after-lock.ts'
import type { SetOperation } from '../kernel/merge.ts'
import type { ItemOf } from '../kernel/set-request.ts'
import { operatorRequest } from '../transition/operator-request.ts'
import { lockedTarget, operatorSet, readyAgain, targetAnswer } from '../transition/operator-set.ts'
import { wakeSuspended } from '../transition/wake.ts'
import {
  isRepeated,
  mayRepeat,
  rememberRequests,
  repeatable,
  repeatedAnswer,
  repeatedRequests,
  requestId,
} from './request-memory.ts'

export const resumeRequest = operatorRequest(
  'resume',
  {
    /** How long it is not claimable; if omitted, it is claimable at once. */
    delay: duration().default(0),
    reason: reason.optional(),
    /** A call with the id of an earlier one returns its result; without an id, each call acts by itself. */
    requestId,
  },
  { mayRepeat },
)

export interface ResumeRequest extends RequestOf<typeof resumeRequest.fields> {}

export interface Resumed {
  readonly kind: 'resumed'
  readonly executionId: ExecutionId
  /** Null when it can be claimed at once. */
  readonly delayUntil: number | null
}

const row = {
  ordinal: 'int8',
  queue_id: 'int4',
  public_state: oneOf<PublicState | null>(),
  delay_until_ms: 'int8?',
  repeated: 'jsonb?',
} as const

const resumeStatement = statement({
  name: 'execution.resume',
  params: resumeRequest.params,
  row,
  text: `
${resumeRequest.input},
${lockedTarget(...resumeRequest.columns)},
${repeatedRequests},
${clockAfter('target')},
waking as materialized (
  select t.execution_id, 'signalled'::flowfabric.ff_interruption as wake_interruption, t.delay_ms as wake_delay_ms,
    k.now_ms as woken_at_ms, t.actor as wake_actor, t.reason as wake_reason, 'resumed' as wake_close_reason,
    null::jsonb as wake_outcome, null::jsonb as wake_answered, null::int8[] as wake_signal_nos
  from target t
  cross join clock k
  where t.lifecycle_phase = 'suspended' and not ${isRepeated}
),
${wakeSuspended()},
${rememberRequests(
  `target t
  cross join clock k
  where t.execution_id in (select execution_id from waking)`,
  `jsonb_build_object('delayUntil', case when t.delay_ms > 0 then k.now_ms + t.delay_ms end)`,
  'k.now_ms',
)},
answered as materialized (
  select t.ordinal, t.queue_id, t.public_state, case when t.delay_ms > 0 then k.now_ms + t.delay_ms end as delay_until_ms,
    ${repeatedAnswer}
  from target t
  cross join clock k
)
${targetAnswer('answered', row)}`,
})

export function resumeOperation(sql: Sql): SetOperation<ItemOf<typeof resumeRequest>, Resumed> {
  return operatorSet(
    sql,
    (items, again) => call(resumeStatement, repeatable(resumeRequest.values(items), again)),
    ({ executionId }, { public_state: found, delay_until_ms: delayUntil, repeated }) => {
      if (repeated !== null) return { kind: 'resumed', executionId, ...(repeated as Pick<Resumed, 'delayUntil'>) }
      if (found !== 'suspended') {
        const sentence = `execution ${executionId} is ${found}; only a suspended execution can be resumed`
        return new EngineError('execution_not_suspended', sentence, { executionId, publicState: found })
      }
      return { kind: 'resumed', executionId, delayUntil }
    },
    (items, rows) => {
      const acted = rows.filter((row) => row.public_state === 'suspended' && row.repeated === null)
      const delays = acted.map((row) => items[row.ordinal - 1]!.delayMs).filter((delayMs) => delayMs > 0)
      return { ...readyAgain(rows), dueInMs: delays.length === 0 ? {} : { delay: Math.min(...delays) } }
    },
  )
}
