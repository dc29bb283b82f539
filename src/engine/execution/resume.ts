// Resume: an operator takes an execution out of its suspension, whatever its condition says. It is the only way out of a
// condition that only an operator meets.
import { parseDuration, type Duration } from '../../model/duration.ts'
import { EngineError } from '../../model/errors.ts'
import type { ExecutionId } from '../../model/id.ts'
import { limits } from '../../model/limits.ts'
import { refuseUnknownFields } from '../../model/shape.ts'
import type { PublicState } from '../../model/state.ts'
import { checkText } from '../../model/text.ts'
import { call, type Sql } from '../../sql/sql.ts'
import { oneOf, statement } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import { clockAfter } from '../kernel/after-lock.ts'
import type { SetOperation } from '../kernel/merge.ts'
import { wakeSuspended } from '../transition/wake.ts'
import {
  checkTarget,
  lockedTarget,
  operatorSet,
  readyAgain,
  targetAnswer,
  targetInput,
  targetParams,
  targetValues,
  type Target,
} from '../transition/operator-set.ts'
import {
  checkRequestId,
  isRepeated,
  rememberRequests,
  repeatedAnswer,
  repeatedRequests,
  requestInput,
  requestParams,
  requestValues,
  type Repeatable,
} from './request-memory.ts'

export interface ResumeRequest {
  readonly executionId: string
  /** How long it is not claimable; left out: not at all. */
  readonly delay?: Duration
  readonly reason?: string
  /** A call with the id of an earlier one answers as that did; left out: each call is one of its own. */
  readonly requestId?: string
}

export interface Resumed {
  readonly kind: 'resumed'
  readonly executionId: ExecutionId
  /** Null when it can be claimed at once. */
  readonly delayUntil: number | null
}

/** A checked request, as the statement takes it. */
export interface OperatorResume extends Target, Repeatable {
  readonly delayMs: number
  readonly reason: string | null
}

export function checkResumeRequest(caller: Caller, request: ResumeRequest): OperatorResume {
  refuseUnknownFields('resume', request, ['executionId', 'delay', 'reason', 'requestId'])
  const { executionId, delay, reason, requestId } = request
  return {
    ...checkTarget(caller, executionId),
    ...checkRequestId(requestId),
    delayMs: delay === undefined ? 0 : parseDuration('delay', delay),
    reason: reason === undefined ? null : checkText('reason', reason, { maxBytes: limits.reasonBytes }),
  }
}

const resumeStatement = statement({
  name: 'execution.resume',
  params: { ...targetParams, delays_ms: 'int8[]', reasons: 'text?[]', ...requestParams },
  row: {
    ordinal: 'int8',
    is_locked: 'bool',
    queue_id: 'int4',
    public_state: oneOf<PublicState | null>(),
    delay_until_ms: 'int8?',
    repeated: 'jsonb?',
  },
  text: `
with input as materialized (
  select *
  from unnest($1::uuid[], $2::int2[], $3::text[], $4::text[], $5::int8[], $6::text[], $7::text[], $8::bool[])
    with ordinality as i (${targetInput}, delay_ms, reason, ${requestInput.join(', ')}, ordinal)
),
${lockedTarget('delay_ms', 'reason', ...requestInput)},
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
${targetAnswer('answered', { public_state: 'flowfabric.ff_public_state', delay_until_ms: 'int8', repeated: 'jsonb' })}`,
})

export function resumeOperation(sql: Sql): SetOperation<OperatorResume, Resumed> {
  return operatorSet(
    sql,
    (items: readonly OperatorResume[], again) =>
      call(resumeStatement, {
        ...targetValues(items),
        delays_ms: items.map((item) => item.delayMs),
        reasons: items.map((item) => item.reason),
        ...requestValues(items, again),
      }),
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
