// Grant: the right of one worker instance to claim one execution, once, for a short time. The execution keeps its
// place in its queue, and other claims skip it while the grant is valid. A worker that could not claim the execution gets no
// grant for it either.
import { randomUUID } from 'node:crypto'
import { attached } from '../../model/attached.ts'
import { EngineError } from '../../model/errors.ts'
import { duration } from '../../model/field-kinds.ts'
import type { RequestOf } from '../../model/field.ts'
import type { ExecutionId } from '../../model/id.ts'
import { workerName } from '../../model/named-fields.ts'
import type { Served } from '../../model/served.ts'
import type { PublicState } from '../../model/state.ts'
import { call, type Sql } from '../../sql/sql.ts'
import { oneOf, statement } from '../../sql/statement.ts'
import { clockAfter } from '../kernel/after-lock.ts'
import { noEffects } from '../kernel/effects.ts'
import type { SetOperation } from '../kernel/merge.ts'
import type { ItemOf } from '../kernel/set-request.ts'
import { isServedSql, neededColumns, servedFields, unservedError } from '../queue/served.ts'
import { operatorRequest } from '../transition/operator-request.ts'
import { lockedTarget, operatorSet, targetAnswer } from '../transition/operator-set.ts'

export const grantRequest = operatorRequest(
  'grant',
  {
    workerId: workerName,
    workerInstanceId: workerName,
    ...servedFields,
    /** From 1 ms to a minute; defaults to 5 s. */
    ttl: duration({ minMs: 1, maxMs: 60_000 }).default(5000),
  },
  {
    newGrantId: { column: 'uuid', from: () => randomUUID() },
    served: {
      column: 'jsonb',
      from: ({ kinds, versions, capabilities }): Served => ({ kinds, versions, capabilities }),
    },
  },
)

export interface GrantRequest extends RequestOf<typeof grantRequest.fields> {}

export interface Granted {
  readonly kind: 'granted'
  readonly executionId: ExecutionId
  readonly grantId: string
  readonly expiresAt: number
}

const row = {
  ordinal: 'int8',
  queue_id: 'int4',
  public_state: oneOf<PublicState | null>(),
  is_eligible: 'bool?',
  is_granted: 'bool?',
  granted_until_ms: 'int8?',
  needed_kind: 'text?',
  needed_version: 'text?',
  needed_capabilities: 'text[]',
} as const

const isServed = isServedSql({
  anyKind: `t.served -> 'kinds' = 'null'`,
  kinds: textsOf('kinds'),
  versions: textsOf('versions'),
  capabilities: textsOf('capabilities'),
})

function textsOf(field: keyof Served): string {
  return `array(select jsonb_array_elements_text(nullif(t.served -> '${field}', 'null')))`
}

// A grant is written and deleted under the execution's lock, so its row needs no lock of its own to be read. A grant
// with the given id exists when the reply to the first send was lost; the repeat returns the same result.
const grantStatement = statement({
  name: 'execution.grant',
  params: grantRequest.params,
  row,
  text: `
${grantRequest.input},
${lockedTarget(...grantRequest.columns)},
${clockAfter('target')},
evaluated as materialized (
  select t.*, c.now_ms, t.eligibility_state = 'eligible_now' as is_eligible,
    coalesce(g.expires_at_ms > c.now_ms and g.grant_id <> t.new_grant_id, false) as is_granted,
    coalesce(g.grant_id = t.new_grant_id, false) as is_given,
    case when g.grant_id = t.new_grant_id then g.expires_at_ms else c.now_ms + t.ttl_ms end as granted_until_ms,
    ${isServed} as is_served, ${neededColumns}
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
  set attached = e.attached | ${attached.grant}
  from granted g
  where e.execution_id = any (array[g.execution_id])
)
${targetAnswer('evaluated', row)}`,
})

export function grantOperation(sql: Sql): SetOperation<ItemOf<typeof grantRequest>, Granted> {
  return operatorSet(
    sql,
    (items) => call(grantStatement, grantRequest.values(items)),
    ({ executionId, newGrantId: grantId, served }, found) => {
      if (found.is_eligible !== true) {
        const sentence = `execution ${executionId} is ${found.public_state}; only an execution that can be claimed now can be granted`
        return new EngineError('execution_not_runnable', sentence, { executionId, publicState: found.public_state })
      }
      const unserved = unservedError(executionId, served, found)
      if (unserved !== null) return unserved
      if (found.is_granted === true) {
        return new EngineError(
          'grant_exists',
          `execution ${executionId} already has an active grant; wait until it expires`,
          {
            executionId,
          },
        )
      }
      return { kind: 'granted', executionId, grantId, expiresAt: found.granted_until_ms! }
    },
    () => noEffects,
  )
}
