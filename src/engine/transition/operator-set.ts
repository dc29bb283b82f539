// Writes of an operator to executions, whoever holds them: a set of executions, locked in the order of their ids, passing
// over what others hold at this moment; those are sent again alone.
import { EngineError } from '../../model/errors.ts'
import { formatExecutionId, parseExecutionId, type ExecutionId } from '../../model/id.ts'
import { call, type Call, type Sql } from '../../sql/sql.ts'
import { statement, type Columns, type RowOf } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import { noEffects, type Effects } from '../kernel/effects.ts'
import { rowLocked, type Outcome, type Sent, type SetOperation } from '../kernel/merge.ts'

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
  // As it is stored: a uuid may be written in capitals.
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
  return {
    execution_ids: items.map((item) => item.uuid),
    partition_keys: items.map((item) => item.partition),
    namespaces: items.map((item) => item.namespace),
    actors: items.map((item) => item.actor),
  }
}

/** The columns of a CTE `input` that `targetParams` fill, before the operation's own and `ordinal`. */
export const targetInput = 'execution_id, partition_key, namespace, actor'

/**
 * Follows the CTE `input`; gives `target`, locked, with the operation's own columns of the input. An execution that was
 * changed after the statement began is passed over like one that is held, by its `xmin`: its new lease or ready row cannot
 * be seen. Alone, the lock comes in an earlier statement, and everything is seen.
 */
export function lockedTarget(...own: readonly string[]): string {
  return `
target as materialized (
  select e.*, ${['ordinal', 'actor', ...own].map((column) => `i.${column}`).join(', ')}
  from input i
  join flowfabric.ff_exec_core seen
    on seen.execution_id = any (array[i.execution_id])
    and seen.partition_key = i.partition_key
    and (i.namespace is null or seen.namespace = i.namespace)
  join flowfabric.ff_exec_core e on e.execution_id = any (array[i.execution_id]) and e.xmin = seen.xmin
  order by i.execution_id
  for no key update of e skip locked
)`
}

/** The end of the statement: `columns` of what was locked, and a row for each that was passed over. */
export function targetAnswer(from: string, own: Readonly<Record<string, string>>): string {
  const columns = Object.keys(own).map((name) => `, v.${name}`)
  const nulls = Object.values(own).map((type) => `, null::${type}`)
  return `
select v.ordinal, true as is_locked, v.queue_id${columns.join('')}
from ${from} v
union all
select i.ordinal, false, e.queue_id${nulls.join('')}
from input i
join flowfabric.ff_exec_core e
  on e.execution_id = any (array[i.execution_id])
  and e.partition_key = i.partition_key
  and (i.namespace is null or e.namespace = i.namespace)
where i.ordinal not in (select ordinal from target)`
}

/** Before a statement that is sent alone: waits for whoever holds the execution. */
export const lockAlone = statement({
  name: 'execution.lock',
  params: { execution_id: 'uuid' },
  row: {},
  text: `
select from flowfabric.ff_exec_core
where execution_id = $1
for no key update`,
})

type AnswerColumns = Columns & { readonly ordinal: 'int8'; readonly is_locked: 'bool'; readonly queue_id: 'int4' }

export function operatorSet<Item extends Target, R extends AnswerColumns, Answer>(
  sql: Sql,
  /** `again`: an earlier reply to these very items was lost. */
  callOf: (items: readonly Item[], again: boolean) => Call<R>,
  answer: (item: Item, row: RowOf<R>) => Answer | EngineError,
  /** `rows` has the items that were locked. */
  effectsOf: (items: readonly Item[], rows: readonly RowOf<R>[]) => Effects,
  { onlyOnce = false }: { readonly onlyOnce?: boolean } = {},
): SetOperation<Item, Answer> {
  const outcomeOf = (item: Item, row: RowOf<R> | undefined): Outcome<Answer> => {
    const { executionId } = item
    if (row === undefined) {
      return new EngineError('execution_not_found', `execution ${executionId} does not exist`, { executionId })
    }
    return row.is_locked ? answer(item, row) : rowLocked
  }
  const sent = (items: readonly Item[], rows: readonly RowOf<R>[]): Sent<Answer> => {
    const found = new Map<number, RowOf<R>>(rows.map((row) => [row.ordinal, row]))
    const locked = rows.filter((row) => row.is_locked)
    return {
      outcomes: items.map((item, index) => outcomeOf(item, found.get(index + 1))),
      effects: locked.length === 0 ? noEffects : effectsOf(items, locked),
    }
  }
  return {
    keyOf: (item) => item.uuid,
    onlyOnce,
    async send(items, again) {
      const [rows] = await sql.pipeline([callOf(items, again)])
      return sent(items, rows)
    },
    async sendAlone(item, again, lockTimeoutMs) {
      const lock = call(lockAlone, { execution_id: item.uuid })
      const [, rows] = await sql.pipeline([lock, callOf([item], again)], { lockTimeoutMs })
      return sent([item], rows)
    },
  }
}

/** The effects of an operator's write that may make its executions claimable. */
export function readyAgain(rows: readonly { readonly queue_id: number }[]): Effects {
  return { readyQueueIds: [...new Set(rows.map((row) => row.queue_id))], wroteEvents: true }
}
