// The frame of fail, delay, release, restart and a holder's cancel: requests by which holders end their leases. A set is one
// transaction in two round trips. It locks the executions and reads them, decides here, and writes the decisions with the commit.
import type { EngineError } from '../../model/errors.ts'
import { isHeldBy, isLastLease } from '../../model/lease.ts'
import type { LockedExecution } from '../../model/locked-execution.ts'
import { call, type Call, type PipelineOptions, type RowsOf, type Sql } from '../../sql/sql.ts'
import { Unpublished, type Effects } from '../kernel/effects.ts'
import { rowLocked, type Sent, type SetOperation } from '../kernel/merge.ts'
import type { Ending } from './end.ts'
import { lockHeld, type CheckedFence } from './fence.ts'
import { lostLease, notFound } from './fenced-answer.ts'
import { withRepeats, type LeaseRecord } from './lease-record.ts'
import { lockSetCall } from './lock-set.ts'
import { lockedExecutions, readLockedCall } from './read-locked.ts'
import type { Requeue } from './requeue.ts'
import { ends, requeues, transitionCalls, transitionEffects, type Transition } from './transitions.ts'

/** The parts that the frame adds to a decision: the execution, the time of the decision, and the holder as actor. */
export type Departure<Answer> = { readonly answer: Answer } & (
  | { readonly ending: Omit<Ending, 'uuid' | 'endedAt'> }
  | { readonly requeue: Omit<Requeue, 'uuid' | 'leftAt' | 'actor' | 'leaseEffect'> }
)

/** An execution that its holder leaves. */
export interface Departed<Item, Answer> {
  readonly item: Item
  readonly execution: LockedExecution
  readonly departure: Departure<Answer>
}

export interface DepartureOperation<Item extends CheckedFence, Answer, Facts> {
  /** One more read, under the lock. */
  readonly facts: { call(uuids: readonly string[]): Call; of(rows: readonly never[]): Facts } | null
  /** For an execution that its holder still holds. It may be called twice. */
  decide(item: Item, execution: LockedExecution, facts: Facts): Departure<Answer>
  /** The result of the same holder's earlier request, by the record that it left; null when the record is of another request. */
  repeat(item: Item, record: LeaseRecord): Answer | null
  /** More writes, after the ending or the return to the queue. */
  alsoWrite?(departed: readonly Departed<Item, Answer>[]): readonly Call[]
}

type Decision<Item, Answer> = Departed<Item, Answer> | EngineError | typeof rowLocked

export function departingSet<Item extends CheckedFence, Answer, Facts = null>(
  sql: Sql,
  operation: DepartureOperation<Item, Answer, Facts>,
): SetOperation<Item, Answer> {
  const unpublished = new Unpublished()
  const perform = async (
    items: readonly Item[],
    first: readonly Call[],
    options: PipelineOptions,
  ): Promise<Sent<Answer>> => {
    let decisions: readonly Decision<Item, Answer>[] = []
    const uuids = items.map((item) => item.uuid)
    const facts = operation.facts === null ? [] : [operation.facts.call(uuids)]
    const reads: readonly Call[] = [...first, lockSetCall(uuids), readLockedCall(uuids), ...facts]
    const decide = (rows: RowsOf<readonly Call[]>): readonly Call[] => {
      decisions = decideAll(operation, items, rows.slice(first.length), first.length > 0)
      return writesOf(operation, departedOf(decisions))
    }
    await sql.decide(reads, decide, options)
    unpublished.add(effectsOf(departedOf(decisions)))
    const outcomes = decisions.map((one) => (isDeparted(one) ? one.departure.answer : one))
    return { outcomes: await withRepeats(sql, items, outcomes, operation), effects: unpublished.take() }
  }
  return {
    keyOf: (item) => item.uuid,
    send: (items) => perform(items, [], {}),
    sendAlone: (item, _again, lockTimeoutMs) =>
      perform([item], [call(lockHeld, { execution_id: item.uuid })], { lockTimeoutMs }),
  }
}

function decideAll<Item extends CheckedFence, Answer, Facts>(
  operation: DepartureOperation<Item, Answer, Facts>,
  items: readonly Item[],
  rows: RowsOf<readonly Call[]>,
  isAlone: boolean,
): readonly Decision<Item, Answer>[] {
  const [lockedRows, foundRows, factRows] = rows as unknown as [LockedRows, FoundRows, (readonly never[])?]
  const found = new Map(foundRows.map((row) => [row.execution_id, row]))
  const executions = lockedExecutions(lockedRows, foundRows)
  const facts = (operation.facts === null ? null : operation.facts.of(factRows!)) as Facts
  return items.map((item) => {
    if (!isVisible(item, found.get(item.uuid))) return notFound(item)
    const execution = executions.get(item.uuid)
    if (execution === undefined) return rowLocked
    if (isHeldBy(execution, item)) return { item, execution, departure: operation.decide(item, execution, facts) }
    const isLast = isLastLease(execution, item)
    // The lease seems to have expired. A renewal, which locks only the lease, may be under way.
    if (isLast && execution.publicState === 'active' && !isAlone) return rowLocked
    return lostLease(item, {
      is_last_holder: isLast,
      lease_epoch: execution.leaseEpoch,
      public_state: execution.publicState,
      found_attempt: execution.attemptIndex,
      interruption: execution.interruption,
    })
  })
}

type LockedRows = Parameters<typeof lockedExecutions>[0]
type FoundRows = Parameters<typeof lockedExecutions>[1]

/** The execution exists in the partition of the id and in a namespace of the caller. */
function isVisible({ partition, namespace }: CheckedFence, row: FoundRows[number] | undefined): boolean {
  if (row === undefined || row.partition_key !== partition) return false
  return namespace === null || row.namespace === namespace
}

function isDeparted<Item, Answer>(decision: Decision<Item, Answer>): decision is Departed<Item, Answer> {
  return typeof decision === 'object' && 'departure' in decision
}

function departedOf<Item, Answer>(decisions: readonly Decision<Item, Answer>[]): readonly Departed<Item, Answer>[] {
  return decisions.filter(isDeparted)
}

function writesOf<Item extends CheckedFence, Answer, Facts>(
  operation: DepartureOperation<Item, Answer, Facts>,
  departed: readonly Departed<Item, Answer>[],
): readonly Call[] {
  return [...transitionCalls(departed.map(transitionOf)), ...(operation.alsoWrite?.(departed) ?? [])]
}

function transitionOf({ item, execution, departure }: Departed<CheckedFence, unknown>): Transition {
  if ('ending' in departure) return ends(execution, departure.ending)
  return requeues(execution, { ...departure.requeue, actor: item.actor, leaseEffect: 'revoked' })
}

function effectsOf(departed: readonly Departed<CheckedFence, unknown>[]): Effects {
  // The holders stopped these runs themselves.
  const { stoppedRunIds: _, ...effects } = transitionEffects(departed.map(transitionOf))
  const delays = departed.flatMap(({ execution, departure }) => {
    const nextAt = 'requeue' in departure ? departure.requeue.nextAt : null
    return nextAt === null ? [] : [nextAt - execution.now]
  })
  return delays.length === 0 ? effects : { ...effects, dueInMs: { delay: Math.min(...delays) } }
}
