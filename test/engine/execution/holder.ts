// Setup for tests about leased executions, and the effects of time, written by SQL.
import { expect } from 'vitest'
import type { Engine } from '../../../src/engine/contract.ts'
import type { Claim } from '../../../src/engine/execution/claim.ts'
import type { ClaimRequest } from '../../../src/engine/execution/claimer.ts'
import type { CreateRequest } from '../../../src/engine/execution/create-request.ts'
import type { Fence } from '../../../src/engine/transition/fence.ts'
import { parseExecutionId, type ExecutionId } from '../../../src/model/id.ts'
import type { Sql } from '../../../src/sql/sql.ts'
import { rows } from '../../support/raw.ts'

export const worker = { workerId: 'w', workerInstanceId: 'w-1', lanes: ['default'] } satisfies ClaimRequest

/** Claims one execution that must exist. */
export async function take(engine: Engine, request: Partial<ClaimRequest> = {}): Promise<Claim> {
  const { claims } = await engine.executions.claim({ ...worker, ...request })
  expect(claims).toHaveLength(1)
  return claims[0]!
}

/** Creates an execution and claims it. */
export async function held(engine: Engine, create: Partial<CreateRequest> = {}): Promise<Claim> {
  const { executionId } = await engine.executions.create({ kind: 'k', ...create })
  const claim = await take(engine)
  expect(claim.executionId).toBe(executionId)
  return claim
}

export function fenceOf({ executionId, leaseId, leaseEpoch }: Fence): Fence {
  return { executionId, leaseId, leaseEpoch }
}

/** The fence of the last holder, for executions that the factory created. */
export async function lastFence(sql: Sql, executionId: ExecutionId): Promise<Fence> {
  const { uuid } = parseExecutionId(executionId)
  const [row] = await rows(
    sql,
    `select lease_id, lease_epoch from flowfabric.ff_exec_core where execution_id = '${uuid}'`,
  )
  return { executionId, leaseId: row!['lease_id'] as string, leaseEpoch: row!['lease_epoch'] as number }
}

/** Ends every delay. */
export async function promoteAll(sql: Sql): Promise<void> {
  await sql.script(`
    with due as (
      update flowfabric.ff_exec_core
      set eligibility_state = 'eligible_now', delay_until_ms = null
      where delay_until_ms is not null
      returning queue_id, priority, rank, execution_id
    )
    insert into flowfabric.ff_ready (queue_id, neg_priority, rank, execution_id)
    select queue_id, -priority, rank, execution_id from due`)
}

/** Ends every lease, with this interruption, and puts its execution back into the queue. */
export async function interruptAll(sql: Sql, interruption: 'lapsed' | 'revoked'): Promise<void> {
  await sql.script(`
    with left_alone as (
      update flowfabric.ff_exec_core
      set lifecycle_phase = 'runnable', ownership_state = 'unowned', eligibility_state = 'eligible_now',
        attempt_state = 'attempt_interrupted', interruption = '${interruption}', attempt_deadline_at_ms = null
      where lifecycle_phase = 'active'
      returning *
    ),
    unleased as (
      delete from flowfabric.ff_lease l using left_alone e where l.execution_id = e.execution_id returning l.*
    ),
    recorded as (
      insert into flowfabric.ff_attempt (execution_id, attempt_index, generation, attempt_type, lease_id, lease_epoch,
        started_at_ms, outcome)
      select execution_id, attempt_index, 0, attempt_type, lease_id, lease_epoch, attempt_started_at_ms,
        'lease_expired_reclaimable'
      from unleased
    )
    insert into flowfabric.ff_ready (queue_id, neg_priority, rank, execution_id)
    select queue_id, -priority, rank, execution_id from left_alone`)
}

export async function leaseEvents(sql: Sql): Promise<unknown[]> {
  const found = await rows(sql, 'select event_type from flowfabric.ff_lease_event order by event_id')
  return found.map((row) => row['event_type'])
}
