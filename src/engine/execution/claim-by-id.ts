// A claim of one execution by its grant, which the claim consumes.
import { attached } from '../../model/attached.ts'
import { EngineError } from '../../model/errors.ts'
import { id, text } from '../../model/field-kinds.ts'
import { checkFields, type RequestOf } from '../../model/field.ts'
import { formatExecutionId, parseExecutionId, type ExecutionId } from '../../model/id.ts'
import { limits } from '../../model/limits.ts'
import { leaseTtl, workerName } from '../../model/named-fields.ts'
import type { Served } from '../../model/served.ts'
import type { PublicState } from '../../model/state.ts'
import { call, type Sql } from '../../sql/sql.ts'
import { oneOf, statement, type RowOf } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import { decodeQueue, queueRow } from '../queue/match.ts'
import { isServedSql, neededColumns, servedFields, unservedError } from '../queue/served.ts'
import { untilSent } from '../kernel/resend.ts'
import { claimColumns, claimInput, claimRow, decodeClaim, holdTaken, isOfCancelledFlow, type Claim } from './claim.ts'
import { defaultLeaseTtlMs } from './renew.ts'

export const claimByIdFields = {
  executionId: id('execution'),
  grantId: text({ minBytes: 1, maxBytes: limits.grantIdBytes }),
  workerId: workerName,
  workerInstanceId: workerName,
  ...servedFields,
  leaseTtl: leaseTtl.optional(),
}

export interface ClaimByIdRequest extends RequestOf<typeof claimByIdFields> {}

// Before the claim, which then sees the current position of the ready row.
const lockStatement = statement({
  name: 'execution.claim-by-id.lock',
  params: { execution_id: 'uuid', partition_key: 'int2', namespace: 'text?' },
  row: {},
  text: `
select from flowfabric.ff_exec_core
where execution_id = $1 and partition_key = $2 and ($3::text is null or namespace = $3)
for no key update`,
})

const claimStatement = statement({
  name: 'execution.claim-by-id',
  params: {
    worker_id: 'text',
    worker_instance_id: 'text',
    lease_ttl_ms: 'int8',
    actor: 'text',
    execution_id: 'uuid',
    partition_key: 'int2',
    namespace: 'text?',
    grant_id: 'text',
    any_kind: 'bool',
    kinds: 'text[]',
    versions: 'text[]',
    capabilities: 'text[]',
  },
  row: { ...claimRow, ...queueRow },
  text: `
with taken as materialized (
  select r.ctid as ready_row, e.ctid as taken_row, e.attempt_state, e.interruption, e.attached
  from flowfabric.ff_exec_core e
  join flowfabric.ff_ready r
    on r.queue_id = any (array[e.queue_id])
    and r.neg_priority = any (array[-e.priority])
    and r.rank = any (array[e.rank])
    and r.execution_id = any (array[e.execution_id])
  where e.execution_id = $5 and e.partition_key = $6 and ($7::text is null or e.namespace = $7)
    and e.eligibility_state = 'eligible_now'
    and e.attached & ${attached.grant} <> 0
    and exists (
      select from flowfabric.ff_grant g
      where g.execution_id = any (array[e.execution_id]) and g.grant_id::text = $8 and g.worker_id = $1
        and g.worker_instance_id = $2 and g.expires_at_ms > flowfabric.ff_now_ms())
    and exists (
      select from flowfabric.ff_queue q
      where q.queue_id = any (array[e.queue_id])
        and ${isServedSql({ anyKind: '$9', kinds: '$10::text[]', versions: '$11::text[]', capabilities: '$12::text[]' })})
    and not ${isOfCancelledFlow}
  for no key update of e
),
${holdTaken('true')}
select ${claimColumns}, q.namespace, q.lane_id, q.execution_kind, q.task_version
from claimed c
${claimInput}
join flowfabric.ff_queue q on q.queue_id = c.queue_id`,
})

const readStatement = statement({
  name: 'execution.claim-by-id.read',
  params: { execution_id: 'uuid', partition_key: 'int2', namespace: 'text?', grant_id: 'text' },
  row: {
    public_state: oneOf<PublicState>(),
    is_eligible: 'bool',
    is_this_grant: 'bool',
    is_expired: 'bool',
    needed_kind: 'text',
    needed_version: 'text',
    needed_capabilities: 'text[]',
  },
  text: `
select e.public_state, e.eligibility_state = 'eligible_now' as is_eligible,
  coalesce(g.grant_id::text = $4, false) as is_this_grant,
  coalesce(g.expires_at_ms <= flowfabric.ff_now_ms(), false) as is_expired, ${neededColumns}
from flowfabric.ff_exec_core e
join flowfabric.ff_queue q on q.queue_id = any (array[e.queue_id])
left join flowfabric.ff_grant g on g.execution_id = any (array[e.execution_id])
where e.execution_id = $1 and e.partition_key = $2 and ($3::text is null or e.namespace = $3)`,
})

const lockTimeoutMs = 2000

export async function claimById(sql: Sql, caller: Caller, request: ClaimByIdRequest): Promise<Claim> {
  const checked = checkFields('claimById', claimByIdFields, request)
  const { partition, uuid } = parseExecutionId(request.executionId)
  const executionId = formatExecutionId(partition, uuid)
  const target = { execution_id: uuid, partition_key: partition, namespace: caller.namespace }
  const values = {
    worker_id: checked.workerId,
    worker_instance_id: checked.workerInstanceId,
    lease_ttl_ms: checked.leaseTtlMs ?? defaultLeaseTtlMs(sql),
    actor: caller.actor,
    ...target,
    grant_id: checked.grantId,
    any_kind: checked.kinds === null,
    kinds: checked.kinds ?? [],
    versions: checked.versions,
    capabilities: checked.capabilities,
  }
  const [, rows] = await untilSent(sql, { again: false, onlyOnce: true }, () =>
    sql.pipeline([call(lockStatement, target), call(claimStatement, values)], { lockTimeoutMs }),
  )
  if (rows[0] !== undefined) return decodeClaim(rows[0], decodeQueue(rows[0]))
  const [found] = await sql.query(readStatement, { ...target, grant_id: values.grant_id })
  if (found === undefined) {
    throw new EngineError('execution_not_found', `execution ${executionId} does not exist`, { executionId })
  }
  throw refusalOf(executionId, checked, found)
}

function refusalOf(executionId: ExecutionId, served: Served, found: RowOf<typeof readStatement.row>): EngineError {
  if (found.is_this_grant && found.is_expired) {
    return new EngineError('grant_expired', `the grant for ${executionId} has expired; request another`, {
      executionId,
    })
  }
  if (!found.is_eligible) {
    const sentence = `execution ${executionId} is ${found.public_state}; only a waiting execution can be claimed`
    return new EngineError('execution_not_runnable', sentence, { executionId, publicState: found.public_state })
  }
  const unserved = found.is_this_grant ? unservedError(executionId, served, found) : null
  if (unserved !== null) return unserved
  const sentence = `no active grant for ${executionId} has this id, worker and instance; request one`
  return new EngineError('grant_not_found', sentence, { executionId })
}
