import { expect } from 'vitest'
import type { Engine } from '../../../src/engine/contract.ts'
import { scheduleFire } from '../../../src/engine/duties/schedule-fire.ts'
import type { PutScheduleRequest } from '../../../src/engine/schedule/put-request.ts'
import type { ExecutionId } from '../../../src/model/id.ts'
import type { Sql } from '../../../src/sql/sql.ts'
import type { Row } from '../../support/raw.ts'
import { fenceOf, worker } from '../execution/holder.ts'
import * as stored from '../../support/stored.ts'

export const hourly = { scheduleId: 'report', kind: 'report', every: '1h' } satisfies PutScheduleRequest
export const report = { scheduleId: 'report' }

/** Fires all due times, and returns the executions of the schedule, oldest first. */
export async function fire(sql: Sql, expected: { processed?: number; errors?: number } = {}): Promise<void> {
  expect(await scheduleFire.runOnce(sql)).toMatchObject({ errors: 0, ...expected })
}

export async function executionsOf(engine: Engine): Promise<ExecutionId[]> {
  const { executions } = await engine.executions.list({ kind: 'report' })
  return executions.map((execution) => execution.executionId).toReversed()
}

/** Ends the running and waiting executions of the schedule. */
export async function finishAll(engine: Engine): Promise<void> {
  const { claims } = await engine.executions.claim({ ...worker, max: 100 })
  await engine.executions.completeMany(claims.map(fenceOf))
}

export function scheduleEvents(sql: Sql): Promise<Row[]> {
  return stored.events.pick(
    sql,
    ['event_type', 'execution_id', 'namespace', 'actor', 'reason', 'details'],
    `event_type::text like 'schedule%'`,
  )
}
