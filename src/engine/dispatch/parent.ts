// An ended child tells its parent. Whether the parent waits for it is judged here, under the parent's lock, and never by the
// ending: a parent that is not suspended needs no word, because a suspend reads the endings of its children after it has
// locked itself.
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

/** Under which rows that cannot be processed are set aside. */
export const parentDuty = 'dispatch-parent'

const owedRow = { execution_id: 'uuid', parent_id: 'uuid', created_at_ms: 'int8' } as const

type Owed = RowOf<typeof take.row>

const owedColumns = `
select d.execution_id, d.parent_id, d.created_at_ms
from flowfabric.ff_dispatch d
join flowfabric.ff_exec_core e on e.execution_id = any (array[d.execution_id])`

/** The oldest that a sweep has in its scope, from `$7` on, but those of the parents in `$6`. */
const due = statement({
  name: 'dispatch.parent.due',
  params: { ...dutyParams, passed_over: 'uuid[]', from_ms: 'int8' },
  row: owedRow,
  text: `${owedColumns}
where d.parent_id is not null and d.created_at_ms > 0 and d.created_at_ms >= $7
  and (d.parent_id = any ($6::uuid[])) is not true
  and ${inScope(parentDuty)}
order by d.created_at_ms, d.execution_id
limit $1`,
})

const named = statement({
  name: 'dispatch.parent.named',
  params: { execution_ids: 'uuid[]' },
  row: { ...owedRow, parent_id: 'uuid?' },
  text: `
select d.execution_id, d.parent_id, d.created_at_ms
from unnest($1::uuid[]) as i (execution_id)
join flowfabric.ff_dispatch d on d.execution_id = any (array[i.execution_id])`,
})

// Before the parents, passing over what others resolve at this moment.
const take = statement({
  name: 'dispatch.parent.take',
  params: { execution_ids: 'uuid[]' },
  row: {
    execution_id: 'uuid',
    generation: 'int4',
    parent_id: 'uuid?',
    has_parent: 'bool',
    owes_flow: 'bool',
    owes_children: 'bool',
  },
  text: `
select d.execution_id, d.generation, d.parent_id, p.execution_id is not null as has_parent,
  d.flow_id is not null as owes_flow, d.has_children as owes_children
from unnest($1::uuid[]) as i (execution_id)
join flowfabric.ff_dispatch d on d.execution_id = any (array[i.execution_id])
left join flowfabric.ff_exec_core p on p.execution_id = any (array[d.parent_id])
order by i.execution_id
for update of d skip locked`,
})

const keys = 'unnest($1::uuid[], $2::int4[]) as i (execution_id, generation)'
// Of an execution's generation there is one that is no start.
const byKey = `d.execution_id = any (array[i.execution_id]) and d.generation = i.generation and d.outcome <> 'none'`

// Whoever clears the last part of what is owed deletes the row.
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

// A condition and its signals may be large, and all of a set are here at once.
export const mostJudged = 200

const actor = 'dispatch'

/** One set, of the oldest, as the dispatcher takes it. */
export async function tellParents(sql: Sql, batch: number, fromMs = 0): Promise<Dispatched> {
  const scope = { batch: Math.min(batch, mostJudged), namespace: null, tag_key: null, tag_value: null }
  return untilSent(sql, { again: false }, () => tell(sql, scope, [], fromMs))
}

/** The same for a duty. */
export const parentParts: DutyParts = {
  name: parentDuty,
  largestBatch: mostJudged,
  due: async (sql, scope) => {
    const rows = await sql.query(due, { ...scope, only: [], passed_over: [], from_ms: 0 })
    return rows.map((row) => row.execution_id)
  },
  act: async (sql, ids, scope) => dutySetOf(await tell(sql, scope, ids)),
}

/** First those with these ids, if there are any. */
async function tell(sql: Sql, scope: DutyScope, ids: readonly string[], fromMs = 0): Promise<Dispatched> {
  return passingOver(async (passedOver) => {
    if (ids.length > 0 && passedOver.length === 0) {
      return tellSet(sql, await sql.query(named, { execution_ids: ids }), scope.batch)
    }
    const found = await sql.query(due, { ...scope, only: [], passed_over: passedOver, from_ms: fromMs })
    return tellSet(sql, found, scope.batch)
  })
}

// Two round trips: lock and look, judge, write.
async function tellSet(sql: Sql, found: readonly RowOf<typeof named.row>[], batch: number): Promise<TakenSet> {
  const isFull = found.length >= batch
  if (found.length === 0) return { seen: 0, done: 0, oldestMs: null, effects: noEffects, isFull, heldIds: [] }
  const parents = [...new Set(found.flatMap((row) => row.parent_id ?? []))]
  let told: readonly Owed[] = []
  let judged: readonly DecidedSuspension[] = []
  let heldIds: readonly string[] = []
  const children = { execution_ids: found.map((row) => row.execution_id) }
  const reads = [call(take, children), lockSetCall(parents), ...openSuspensionCalls(parents)] as const
  const [woken] = await sql.decide(reads, ([taken, locked, ...facts]) => {
    const free = new Set(locked.map((row) => row.execution_id))
    const isHeld = ({ has_parent, parent_id }: Owed) => has_parent && !free.has(parent_id!)
    heldIds = [...new Set(taken.filter(isHeld).map((row) => row.parent_id!))]
    // Without a parent's id it was told since it was looked for.
    told = taken.filter((row) => row.parent_id !== null && !isHeld(row))
    const concerned = new Set(told.map((row) => row.parent_id))
    const open = [...openSuspensionsOf(facts).values()].filter(({ uuid }) => free.has(uuid) && concerned.has(uuid))
    judged = open.map((suspension) => ({ suspension, evaluation: evaluate(suspension.condition, suspension.input) }))
    return writesFor(judged, told)
  })
  const ready = woken.filter((row) => row.delay_until_ms === null)
  return {
    seen: found.length,
    done: told.length,
    oldestMs: Math.min(...found.map((row) => row.created_at_ms)),
    effects: {
      readyQueueIds: [...new Set(ready.map((row) => row.queue_id))],
      dueInMs: shortestDelay(judged),
      pendingDispatch: stillOwed(told),
    },
    isFull,
    heldIds,
  }
}

/** Those whom a row owes besides may have passed it over, because it was held here. */
function stillOwed(told: readonly Owed[]): number {
  const flow = told.some((row) => row.owes_flow) ? pendingDispatch.flow : 0
  return told.some((row) => row.owes_children) ? flow | pendingDispatch.children : flow
}

function writesFor(judged: readonly DecidedSuspension[], told: readonly Owed[]) {
  const waking = judged.filter(({ evaluation }) => evaluation.satisfied)
  const waiting = judged.filter(({ evaluation }) => !evaluation.satisfied)
  return [
    wakeCall(waking.map((one) => wakingBy(actor, one))),
    takeSignalsCall(waking.flatMap(takenBy), evaluatedAt(waking)),
    rearmCall(waiting.map(({ suspension, evaluation }) => ({ uuid: suspension.uuid, wakeAt: evaluation.dueAt }))),
    call(settle, {
      execution_ids: told.map((row) => row.execution_id),
      generations: told.map((row) => row.generation),
    }),
    releaseCall(
      parentDuty,
      told.map((row) => row.execution_id),
    ),
  ] as const
}

function shortestDelay(judged: readonly DecidedSuspension[]): NonNullable<Effects['dueInMs']> {
  const delays = judged.flatMap(({ suspension, evaluation }) => {
    const { resumeDelayMs } = suspension
    return evaluation.satisfied && resumeDelayMs !== null && resumeDelayMs > 0 ? [resumeDelayMs] : []
  })
  return delays.length === 0 ? {} : { delay: Math.min(...delays) }
}
