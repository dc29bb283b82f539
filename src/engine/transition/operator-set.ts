// Writes of an operator to executions, leased or not. A set of executions is locked first, in the order of their ids and
// without waiting; a later statement of the transaction reads and writes them. An execution that another transaction has locked is
// sent again alone, behind a statement that waits for the lock.
import { EngineError } from '../../model/errors.ts'
import { formatExecutionId, parseExecutionId, type ExecutionId } from '../../model/id.ts'
import type { LockedExecution } from '../../model/locked-execution.ts'
import { call, type Call, type PipelineOptions, type RowsOf, type Sql } from '../../sql/sql.ts'
import { statement, type Columns, type RowOf } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import { noEffects, type Effects } from '../kernel/effects.ts'
import { rowLocked, type Outcome, type Sent, type SetOperation } from '../kernel/merge.ts'
import { lockedExecutions, readLockedCall } from './read-locked.ts'
import { transitionCalls, transitionEffects, type Transition } from './transitions.ts'

/** A checked target, as the statements take it. */
export interface Target {
  readonly executionId: ExecutionId
  readonly partition: number
  readonly uuid: string
  readonly namespace: string | null
  readonly actor: string
}

export function checkTarget(caller: Caller, executionId: string): Target {
  const { partition, uuid } = parseExecutionId(executionId)
  const { namespace, actor } = caller
  // In its stored form: the request may write the uuid in capitals.
  return { executionId: formatExecutionId(partition, uuid), partition, uuid, namespace, actor }
}

/** `$1` to `$4` of every operator's statement. */
export const targetParams = {
  execution_ids: 'uuid[]',
  partition_keys: 'int2[]',
  namespaces: 'text?[]',
  actors: 'text[]',
} as const

export function targetValues(items: readonly Target[]) {
  return { ...identity(items), actors: items.map((item) => item.actor) }
}

function identity(items: readonly Target[]) {
  return {
    execution_ids: items.map((item) => item.uuid),
    partition_keys: items.map((item) => item.partition),
    namespaces: items.map((item) => item.namespace),
  }
}

/** The columns of a CTE `input` that `targetParams` fill, before the operation's own and `ordinal`. */
export const targetInput = 'execution_id, partition_key, namespace, actor'

// `e` is the target of `i`, within the namespace of the caller.
const isTarget = `e.execution_id = any (array[i.execution_id])
  and e.partition_key = i.partition_key
  and (i.namespace is null or e.namespace = i.namespace)`

const identityParams = { execution_ids: 'uuid[]', partition_keys: 'int2[]', namespaces: 'text?[]' } as const

const lockTargets = statement({
  name: 'execution.lock-targets',
  params: identityParams,
  row: { execution_id: 'uuid' },
  text: `
select e.execution_id
from unnest($1::uuid[], $2::int2[], $3::text[]) as i (execution_id, partition_key, namespace)
join flowfabric.ff_exec_core e
  on ${isTarget}
order by i.execution_id
for no key update of e skip locked`,
})

const findTargets = statement({
  name: 'execution.find-targets',
  params: identityParams,
  row: { execution_id: 'uuid' },
  text: `
select e.execution_id
from unnest($1::uuid[], $2::int2[], $3::text[]) as i (execution_id, partition_key, namespace)
join flowfabric.ff_exec_core e
  on ${isTarget}`,
})

/** Follows the CTE `input`, whose executions are locked. Yields `target`: their rows, with the operation's own columns. */
export function lockedTarget(...own: readonly string[]): string {
  return `
target as materialized (
  select e.*, ${['ordinal', 'actor', ...own].map((column) => `i.${column}`).join(', ')}
  from input i
  join flowfabric.ff_exec_core e
    on ${isTarget}
)`
}

/** The end of the statement: the columns of its row, of the targets. */
export function targetAnswer(from: string, row: AnswerColumns): string {
  return `
select ${Object.keys(row)
    .map((name) => `v.${name}`)
    .join(', ')}
from ${from} v`
}

/** Before a statement that is sent alone: waits for the transaction that has locked the execution. */
export const lockAlone = statement({
  name: 'execution.lock',
  params: { execution_id: 'uuid' },
  row: { execution_id: 'uuid' },
  text: `
select execution_id
from flowfabric.ff_exec_core
where execution_id = $1
for no key update`,
})

type AnswerColumns = Columns & { readonly ordinal: 'int8'; readonly queue_id: 'int4' }

/** A verb that one statement decides and writes, after the lock. */
export function operatorSet<Item extends Target, R extends AnswerColumns, Answer>(
  sql: Sql,
  /** `again`: an earlier reply to these very items was lost. */
  callOf: (items: readonly Item[], again: boolean) => Call<R>,
  answer: (item: Item, row: RowOf<R>) => Answer | EngineError,
  /** `items` are those that were locked. */
  effectsOf: (items: readonly Item[], rows: readonly RowOf<R>[]) => Effects,
  { onlyOnce = false }: { readonly onlyOnce?: boolean } = {},
): SetOperation<Item, Answer> {
  const sent = (
    items: readonly Item[],
    locked: readonly Item[],
    rows: readonly RowOf<R>[],
    held: ReadonlySet<Item>,
  ): Sent<Answer> => {
    const found = new Map<Item, RowOf<R>>(rows.map((row) => [locked[row.ordinal - 1]!, row]))
    const outcomeOf = (item: Item): Outcome<Answer> => {
      const row = found.get(item)
      if (row !== undefined) return answer(item, row)
      return held.has(item) ? rowLocked : executionNotFound(item.executionId)
    }
    return { outcomes: items.map(outcomeOf), effects: rows.length === 0 ? noEffects : effectsOf(locked, rows) }
  }
  return {
    keyOf: (item) => item.uuid,
    onlyOnce,
    async send(items, again) {
      let ours: readonly Item[] = []
      let held: ReadonlySet<Item> = new Set()
      const reads = [lockTargetsCall(items), call(findTargets, identity(items))] as const
      const [rows = []] = await sql.decide(reads, ([locked, known]) => {
        const [lockedIds, knownIds] = [locked, known].map((found) => new Set(found.map((row) => row.execution_id)))
        ours = items.filter((item) => lockedIds!.has(item.uuid))
        held = new Set(items.filter((item) => knownIds!.has(item.uuid) && !lockedIds!.has(item.uuid)))
        return ours.length === 0 ? [] : [callOf(ours, again)]
      })
      return sent(items, ours, rows, held)
    },
    async sendAlone(item, again, lockTimeoutMs) {
      const lock = call(lockAlone, { execution_id: item.uuid })
      const [, rows] = await sql.pipeline([lock, callOf([item], again)], { lockTimeoutMs })
      return sent([item], [item], rows, new Set())
    },
  }
}

/** The effects of an operator's write that may make its executions claimable. */
export function readyAgain(rows: readonly { readonly queue_id: number }[]): Effects {
  return { readyQueueIds: [...new Set(rows.map((row) => row.queue_id))], wroteEvents: true }
}

/** A target and its execution, as the transaction read it under the lock. */
export interface FoundTarget<Item> {
  readonly item: Item
  readonly execution: LockedExecution
}

export interface DecidedTarget<Answer> {
  readonly answer: Answer | EngineError
  /** Undefined: the execution stays as it is. */
  readonly transition?: Transition | undefined
}

export interface DecidedVerb<Item, Reads extends readonly Call[], Answer> {
  /** Sent after the lock. `again`: an earlier reply to these very items was lost. */
  readonly reads: (items: readonly Item[], again: boolean) => Reads
  /** In the order of `found`. */
  readonly decide: (found: readonly FoundTarget<Item>[], rows: RowsOf<Reads>) => readonly DecidedTarget<Answer>[]
  /** More writes for the decisions. */
  readonly writes?: (decided: readonly (FoundTarget<Item> & DecidedTarget<Answer>)[]) => readonly Call[]
}

/** A verb that is decided in this process. */
export function decidedSet<Item extends Target, const Reads extends readonly Call[], Answer>(
  sql: Sql,
  { reads, decide, writes = () => [] }: DecidedVerb<Item, Reads, Answer>,
): SetOperation<Item, Answer> {
  const send = async (
    items: readonly Item[],
    again: boolean,
    lock: Call<{ readonly execution_id: 'uuid' }>,
    options?: PipelineOptions,
  ): Promise<Sent<Answer>> => {
    let outcomes: Outcome<Answer>[] = []
    let transitions: readonly Transition[] = []
    const uuids = items.map((item) => item.uuid)
    await sql.decide(
      [lock, readLockedCall(uuids), ...reads(items, again)],
      ([locked, rows, ...more]) => {
        const executions = lockedExecutions(locked, rows)
        const known = new Map(rows.map((row) => [row.execution_id, row]))
        const visible = items.filter((item) => isOf(item, known.get(item.uuid)))
        const found = visible.flatMap((item) => {
          const execution = executions.get(item.uuid)
          return execution === undefined ? [] : [{ item, execution }]
        })
        const answers = decide(found, more)
        const decided = found.map((target, index) => ({ ...target, ...answers[index]! }))
        transitions = decided.flatMap(({ transition }) => transition ?? [])
        const answerOf = new Map<Item, Outcome<Answer>>([
          ...visible.map((item) => [item, rowLocked] as const),
          ...decided.map(({ item, answer }) => [item, answer] as const),
        ])
        outcomes = items.map((item) => answerOf.get(item) ?? executionNotFound(item.executionId))
        return [...transitionCalls(transitions), ...writes(decided)]
      },
      options,
    )
    return { outcomes, effects: transitionEffects(transitions) }
  }
  return {
    keyOf: (item) => item.uuid,
    send: (items, again) => send(items, again, lockTargetsCall(items)),
    sendAlone: (item, again, lockTimeoutMs) =>
      send([item], again, call(lockAlone, { execution_id: item.uuid }), { lockTimeoutMs }),
  }
}

function lockTargetsCall(items: readonly Target[]) {
  return call(lockTargets, identity(items))
}

type LockedRow = { readonly partition_key: number; readonly namespace: string }

function isOf({ partition, namespace }: Target, row: LockedRow | undefined): boolean {
  return row !== undefined && row.partition_key === partition && (namespace === null || row.namespace === namespace)
}

function executionNotFound(executionId: ExecutionId): EngineError {
  return new EngineError('execution_not_found', `execution ${executionId} does not exist`, { executionId })
}
