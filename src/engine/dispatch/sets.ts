// One set of the dispatch rows of flows: the oldest rows as the dispatcher takes them, or the rows that a duty names.
import type { Sql } from '../../sql/sql.ts'
import type { DutyParts } from '../kernel/run-duty.ts'
import { dutySetOf, type Dispatched } from './dispatched.ts'
import { passingOver } from './pass-over.ts'
import { resolveSet } from './resolve.ts'
import { dispatchDuty, dueDispatchIds, takeDueCall, takeNamedCall, takeOldestCall } from './take-dispatches.ts'

export function resolveFlows(sql: Sql, batch: number, fromMs = 0): Promise<Dispatched> {
  return passingOver((passedOver) =>
    resolveSet(sql, takeOldestCall(batch, passedOver, fromMs), { batch, isDuty: false }),
  )
}

/** The same for a duty. */
export const flowParts: DutyParts = {
  name: dispatchDuty,
  due: async (sql, scope) => {
    const rows = await sql.query(dueDispatchIds, { ...scope, passed_over: [] })
    return rows.map((row) => row.execution_id)
  },
  act: async (sql, ids, scope) => {
    const takeCall = (passedOver: readonly string[]) =>
      passedOver.length === 0 ? takeNamedCall(ids) : takeDueCall(scope, passedOver)
    const taken = await passingOver((passedOver) =>
      resolveSet(sql, takeCall(passedOver), { batch: scope.batch, isDuty: true }),
    )
    return dutySetOf(taken)
  },
}
