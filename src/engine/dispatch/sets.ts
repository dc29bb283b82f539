// One set of what is owed to flows, in two forms, and one of the backlog of cancels, of the oldest; as the dispatcher takes them.
import { call, type Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import { wholeFlow } from '../transition/whole-flow.ts'
import type { DutyScope } from '../kernel/scope.ts'
import type { DutyParts } from '../kernel/run-duty.ts'
import { untilSent } from '../kernel/resend.ts'
import { dutySetOf, type Dispatched } from './dispatched.ts'
import { pendingDispatch } from '../kernel/pending-dispatch.ts'
import { passingOver, type TakenSet } from './pass-over.ts'
import { resolvePlainDispatches } from './resolve-plain.ts'
import { resolveDispatches } from './resolve.ts'
import { dispatchDuty, dispatchParams, dueDispatches } from './take-dispatches.ts'

/** By the plain form; what needs more than that is owed to the other. */
export function resolveFlows(sql: Sql, batch: number, fromMs = 0): Promise<Dispatched> {
  return passingOver(async (passedOver) => {
    const [row] = await untilSent(sql, { again: false }, () =>
      sql.query(resolvePlainDispatches, { batch, passed_over: passedOver, from_ms: fromMs }),
    )
    const { processed: done, ready_queue_ids: readyQueueIds, shortest_delay_ms: delayMs, needs_more: needsMore } = row!
    const owes = (needsMore ? pendingDispatch.moreOfFlow : 0) | (row!.is_cut_short ? pendingDispatch.flow : 0)
    // Whatever is left is the other form's then, be it held or one of many.
    const seen = needsMore ? done : row!.seen
    const { ended_flow_ids: endedFlowIds, held_flow_ids: heldIds, oldest_ms: oldestMs } = row!
    const effects = { readyQueueIds, dueInMs: delayOf(delayMs), pendingDispatch: owes, endedFlowIds }
    return { seen, done, oldestMs, effects, isFull: row!.seen >= batch, heldIds }
  })
}

/** Whatever it takes. */
export async function resolveMoreOfFlows(sql: Sql, batch: number, fromMs = 0): Promise<Dispatched> {
  const taken = await passingOver((passedOver) =>
    untilSent(sql, { again: false }, () => resolve(sql, everything(batch), [], passedOver, fromMs)),
  )
  const { pendingDispatch: owes = 0 } = taken.effects
  // A skip is likely to skip others.
  return (owes & pendingDispatch.flow) === 0
    ? taken
    : {
        ...taken,
        effects: { ...taken.effects, pendingDispatch: (owes & ~pendingDispatch.flow) | pendingDispatch.moreOfFlow },
      }
}

const due = statement({
  name: `duty.${dispatchDuty}.due`,
  params: dispatchParams,
  row: { execution_id: 'uuid' },
  text: `select execution_id from (${dueDispatches}) due`,
})

/** The same for a duty. */
export const flowParts: DutyParts = {
  name: dispatchDuty,
  due: async (sql, scope) => {
    const rows = await sql.query(due, { ...scope, only: [], passed_over: [], from_ms: 0 })
    return rows.map((row) => row.execution_id)
  },
  act: async (sql, ids, scope) => {
    const taken = await passingOver((passedOver) => resolve(sql, scope, passedOver.length === 0 ? ids : [], passedOver))
    return dutySetOf(taken)
  },
}

async function resolve(
  sql: Sql,
  scope: DutyScope,
  only: readonly string[],
  passedOver: readonly string[],
  fromMs = 0,
): Promise<TakenSet> {
  const values = { ...scope, only, passed_over: passedOver, from_ms: fromMs }
  const [[row]] = await sql.pipeline([call(resolveDispatches, values)], wholeFlow)
  const { seen, processed: done, ready_queue_ids: readyQueueIds, shortest_delay_ms: delayMs, owes } = row!
  const { ended_flow_ids: endedFlowIds, held_flow_ids: heldIds, oldest_ms: oldestMs } = row!
  const isFull = seen >= scope.batch
  const effects = { readyQueueIds, dueInMs: delayOf(delayMs), pendingDispatch: owes, endedFlowIds }
  return { seen, done, oldestMs, effects, isFull, heldIds }
}

function delayOf(delayMs: number | null): { readonly delay?: number } {
  return delayMs === null ? {} : { delay: delayMs }
}

function everything(batch: number) {
  return { batch, namespace: null, tag_key: null, tag_value: null }
}
