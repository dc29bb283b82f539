// Notifies the parent of an ended child. Whether the parent waits for the child is decided here, under the parent's lock, and never
// by the ending. A parent that is not suspended needs no notification, because a suspend reads the endings of its children after
// it has locked its own row.
import { evaluate } from '../../model/condition-evaluate.ts'
import { call, type Sql } from '../../sql/sql.ts'
import { statement, type RowOf } from '../../sql/statement.ts'
import { lockSetCall } from '../transition/lock-set.ts'
import { dutyParams, inScope } from '../kernel/candidate.ts'
import { releaseCall } from '../kernel/due.ts'
import type { DutyScope } from '../kernel/scope.ts'
import type { DutyParts } from '../kernel/run-duty.ts'
import { untilSent } from '../kernel/resend.ts'
import { openSuspensionCalls, openSuspensionsOf } from '../waiting/suspension/open-suspensions.ts'
import { rearmCall } from '../waiting/suspension/rearm.ts'
import { evaluatedAt, takenBy, wakingBy, type DecidedSuspension } from '../waiting/suspension/satisfied.ts'
import { takeSignalsCall } from '../transition/take-signals.ts'
import { wakeCall } from '../transition/wake.ts'
import { dutySetOf, type Dispatched } from './dispatched.ts'
import { noEffects, type Effects } from '../kernel/effects.ts'
import { pendingDispatch } from '../kernel/pending-dispatch.ts'
import { passingOver, type TakenSet } from './pass-over.ts'

/** The name under which rows that cannot be processed are quarantined. */
export const parentDuty = 'dispatch-parent'

const dueRow = { execution_id: 'uuid', parent_id: 'uuid', created_at_ms: 'int8' } as const

type TakenRow = RowOf<typeof take.row>

const selectDue = `
select d.execution_id, d.parent_id, d.created_at_ms
from flowfabric.ff_dispatch d
join flowfabric.ff_exec_core e on e.execution_id = any (array[d.execution_id])`

/** The oldest rows in the scope of a duty's run, from `$7` on, without those of the parents in `$6`. */
const due = statement({
  name: 'dispatch.parent.due',
  params: { ...dutyParams, passed_over: 'uuid[]', from_ms: 'int8' },
  row: dueRow,
  text: `${selectDue}
where d.parent_id is not null and d.created_at_ms > 0 and d.created_at_ms >= $7
  and (d.parent_id = any ($6::uuid[])) is not true
  and ${inScope(parentDuty)}
order by d.created_at_ms, d.execution_id
limit $1`,
})

const named = statement({
  name: 'dispatch.parent.named',
  params: { execution_ids: 'uuid[]' },
  row: { ...dueRow, parent_id: 'uuid?' },
  text: `
select d.execution_id, d.parent_id, d.created_at_ms
from unnest($1::uuid[]) as i (execution_id)
join flowfabric.ff_dispatch d on d.execution_id = any (array[i.execution_id])`,
})

// Locks the rows before the parents, and passes over rows that another transaction has locked.
const take = statement({
  name: 'dispatch.parent.take',
  params: { execution_ids: 'uuid[]' },
  row: {
    execution_id: 'uuid',
    generation: 'int4',
    parent_id: 'uuid?',
    has_parent: 'bool',
    has_flow: 'bool',
    has_children: 'bool',
  },
  text: `
select d.execution_id, d.generation, d.parent_id, p.execution_id is not null as has_parent,
  d.flow_id is not null as has_flow, d.has_children as has_children
from unnest($1::uuid[]) as i (execution_id)
join flowfabric.ff_dispatch d on d.execution_id = any (array[i.execution_id])
left join flowfabric.ff_exec_core p on p.execution_id = any (array[d.parent_id])
order by i.execution_id
for update of d skip locked`,
})

const keys = 'unnest($1::uuid[], $2::int4[]) as i (execution_id, generation)'
// A generation of an execution has one row that is not for a start.
const byKey = `d.execution_id = any (array[i.execution_id]) and d.generation = i.generation and d.outcome <> 'none'`

// The transaction that clears the last part of the pending dispatch deletes the row.
const settle = statement({
  name: 'dispatch.parent.settle',
  params: { execution_ids: 'uuid[]', generations: 'int4[]' },
  row: {},
  text: `
with settled as (
  delete from flowfabric.ff_dispatch d
  using ${keys}
  where ${byKey} and d.flow_id is null and not d.has_children
)
update flowfabric.ff_dispatch d
set parent_id = null
from ${keys}
where ${byKey} and (d.flow_id is not null or d.has_children)`,
})

// A condition and its signals may be large, and those of a whole set are in memory together.
export const largestParentSet = 200

const actor = 'dispatch'

/** One set of the oldest rows, for the dispatcher. */
export async function notifyParents(sql: Sql, batch: number, fromMs = 0): Promise<Dispatched> {
  const scope = { batch: Math.min(batch, largestParentSet), namespace: null, tag_key: null, tag_value: null }
  return untilSent(sql, { again: false }, () => notify(sql, scope, [], fromMs))
}

/** The same for a duty. */
export const parentParts: DutyParts = {
  name: parentDuty,
  largestBatch: largestParentSet,
  due: async (sql, scope) => {
    const rows = await sql.query(due, { ...scope, only: [], passed_over: [], from_ms: 0 })
    return rows.map((row) => row.execution_id)
  },
  act: async (sql, ids, scope) => dutySetOf(await notify(sql, scope, ids)),
}

/** With ids, it takes these rows first. */
async function notify(sql: Sql, scope: DutyScope, ids: readonly string[], fromMs = 0): Promise<Dispatched> {
  return passingOver(async (passedOver) => {
    if (ids.length > 0 && passedOver.length === 0) {
      return notifySet(sql, await sql.query(named, { execution_ids: ids }), scope.batch)
    }
    const found = await sql.query(due, { ...scope, only: [], passed_over: passedOver, from_ms: fromMs })
    return notifySet(sql, found, scope.batch)
  })
}

// Two round trips: lock and read, decide, write.
async function notifySet(sql: Sql, found: readonly RowOf<typeof named.row>[], batch: number): Promise<TakenSet> {
  const isFull = found.length >= batch
  if (found.length === 0) return { seen: 0, done: 0, oldestMs: null, effects: noEffects, isFull, lockedIds: [] }
  const parents = [...new Set(found.flatMap((row) => row.parent_id ?? []))]
  let dispatched: readonly TakenRow[] = []
  let decided: readonly DecidedSuspension[] = []
  let lockedIds: readonly string[] = []
  const children = { execution_ids: found.map((row) => row.execution_id) }
  const reads = [call(take, children), lockSetCall(parents), ...openSuspensionCalls(parents)] as const
  const [woken] = await sql.decide(reads, ([taken, locked, ...facts]) => {
    const free = new Set(locked.map((row) => row.execution_id))
    const isParentLocked = ({ has_parent, parent_id }: TakenRow) => has_parent && !free.has(parent_id!)
    lockedIds = [...new Set(taken.filter(isParentLocked).map((row) => row.parent_id!))]
    // Without a parent's id, the row was dispatched since it was read.
    dispatched = taken.filter((row) => row.parent_id !== null && !isParentLocked(row))
    const concerned = new Set(dispatched.map((row) => row.parent_id))
    const open = [...openSuspensionsOf(facts).values()].filter(({ uuid }) => free.has(uuid) && concerned.has(uuid))
    decided = open.map((suspension) => ({ suspension, evaluation: evaluate(suspension.condition, suspension.input) }))
    return writesFor(decided, dispatched)
  })
  const ready = woken.filter((row) => row.delay_until_ms === null)
  return {
    seen: found.length,
    done: dispatched.length,
    oldestMs: Math.min(...found.map((row) => row.created_at_ms)),
    effects: {
      readyQueueIds: [...new Set(ready.map((row) => row.queue_id))],
      dueInMs: shortestDelay(decided),
      pendingDispatch: stillPending(dispatched),
    },
    isFull,
    lockedIds,
  }
}

/** Other sets may have passed over a row with more pending dispatch, because it was locked here. */
function stillPending(dispatched: readonly TakenRow[]): number {
  const flow = dispatched.some((row) => row.has_flow) ? pendingDispatch.flow : 0
  return dispatched.some((row) => row.has_children) ? flow | pendingDispatch.children : flow
}

function writesFor(decided: readonly DecidedSuspension[], dispatched: readonly TakenRow[]) {
  const waking = decided.filter(({ evaluation }) => evaluation.satisfied)
  const waiting = decided.filter(({ evaluation }) => !evaluation.satisfied)
  return [
    wakeCall(waking.map((one) => wakingBy(actor, one))),
    takeSignalsCall(waking.flatMap(takenBy), evaluatedAt(waking)),
    rearmCall(waiting.map(({ suspension, evaluation }) => ({ uuid: suspension.uuid, wakeAt: evaluation.dueAt }))),
    call(settle, {
      execution_ids: dispatched.map((row) => row.execution_id),
      generations: dispatched.map((row) => row.generation),
    }),
    releaseCall(
      parentDuty,
      dispatched.map((row) => row.execution_id),
    ),
  ] as const
}

function shortestDelay(decided: readonly DecidedSuspension[]): NonNullable<Effects['dueInMs']> {
  const delays = decided.flatMap(({ suspension, evaluation }) => {
    const { resumeDelayMs } = suspension
    return evaluation.satisfied && resumeDelayMs !== null && resumeDelayMs > 0 ? [resumeDelayMs] : []
  })
  return delays.length === 0 ? {} : { delay: Math.min(...delays) }
}
