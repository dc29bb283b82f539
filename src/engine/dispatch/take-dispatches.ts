// The first statement of a set: it takes dispatch rows and locks the outermost flows that they are for. It waits for no other
// transaction: it takes both with skip locked, in this order. Every operation that changes a graph, or members that have ended,
// locks the outermost flow first. So the later statements of the transaction read the newest edges, groups, flows and generations.
//
// The later statements are sent before this one has replied. They read the rows that it took from settings of the transaction.
import { call, type Call } from '../../sql/sql.ts'
import { oneOf, statement, type RowOf } from '../../sql/statement.ts'
import type { TerminalOutcome } from '../../model/state.ts'
import { inDutyScope, withForgotten } from '../kernel/due.ts'
import { scopeParams, type DutyScope } from '../kernel/scope.ts'

export const dispatchDuty = 'dispatch'

const columns = `d.execution_id, d.generation, d.outcome, d.flow_id, d.is_counted, d.created_at_ms,
    d.parent_id is not null or d.has_children as is_shared`

// Not `<> all`: for each id the planner would take off the share of rows without a flow, expect next to nothing, and read all
// (measured).
/** The oldest rows in the scope of a duty, without those of the flows in `$5`. */
const dueDispatches = `
  select ${columns}
  from flowfabric.ff_dispatch d
  join flowfabric.ff_exec_core e on e.execution_id = any (array[d.execution_id])
  where d.flow_id is not null and d.created_at_ms > 0
    and (d.flow_id = any ($5::uuid[])) is not true
    and ${inDutyScope(dispatchDuty)}
  order by d.created_at_ms, d.execution_id
  limit $1`

/** The oldest rows from `$3` on, without those of the flows in `$2`. The duty alone retries quarantined rows. */
const oldestDispatches = `
  select ${columns}
  from flowfabric.ff_dispatch d
  where d.flow_id is not null and d.created_at_ms > 0 and d.created_at_ms >= $3
    and (d.flow_id = any ($2::uuid[])) is not true
    and d.execution_id not in (select s.subject_id from flowfabric.ff_set_aside s where s.duty = '${dispatchDuty}')
  order by d.created_at_ms, d.execution_id
  limit $1`

// Rows without a flow are left out afterwards: with this condition here, the index of flows would seem as good as the key.
const namedDispatches = `
  select ${columns}
  from unnest($1::uuid[]) as i (execution_id)
  join flowfabric.ff_dispatch d on d.execution_id = any (array[i.execution_id])`

const row = {
  ordinal: 'int8',
  execution_id: 'uuid',
  generation: 'int4',
  outcome: oneOf<TerminalOutcome>(),
  flow_id: 'uuid',
  root_flow_id: 'uuid?',
  is_counted: 'bool',
  created_at_ms: 'int8',
  is_shared: 'bool',
  is_locked: 'bool',
} as const

export type TakenDispatch = RowOf<typeof row>

function taking(dispatches: string): string {
  return `
with dispatch as materialized (${dispatches}
  for update of d skip locked
),
found as materialized (
  select d.*, f.root_flow_id, row_number() over () as ordinal
  from dispatch d
  left join flowfabric.ff_flow_core f on f.flow_id = any (array[d.flow_id])
  where d.flow_id is not null
),
tree as materialized (
  select r.flow_id
  from (select distinct root_flow_id from found) f
  join flowfabric.ff_flow_core r on r.flow_id = any (array[f.root_flow_id])
  order by f.root_flow_id
  for no key update of r skip locked
),
taken as materialized (
  select *, (root_flow_id in (select flow_id from tree)) is true as is_locked
  from found
),
kept as materialized (
  select set_config('ff.taken_ordinals', array_agg(ordinal)::text, true), set_config('ff.taken_ids', array_agg(execution_id)::text, true),
    set_config('ff.taken_generations', array_agg(generation)::text, true),
    set_config('ff.taken_outcomes', array_agg(outcome)::text, true),
    set_config('ff.taken_nested', array_agg(flow_id <> root_flow_id)::text, true)
  from taken
  where is_locked
)
select ordinal, execution_id, generation, outcome, flow_id, root_flow_id, is_counted, created_at_ms, is_shared, is_locked
from taken
cross join kept`
}

const takeOldest = statement({
  name: 'dispatch.take',
  params: { batch: 'int8', passed_over: 'uuid[]', from_ms: 'int8' },
  row,
  text: taking(oldestDispatches),
})

const dueParams = { ...scopeParams, passed_over: 'uuid[]' } as const

const takeDue = statement({ name: 'dispatch.take-due', params: dueParams, row, text: taking(dueDispatches) })

const takeNamed = statement({
  name: 'dispatch.take-named',
  params: { execution_ids: 'uuid[]' },
  row,
  text: taking(namedDispatches),
})

export type TakeCall = Call<typeof row>

/** The rows that the dispatcher takes. */
export function takeOldestCall(batch: number, passedOver: readonly string[], fromMs: number): TakeCall {
  return call(takeOldest, { batch, passed_over: passedOver, from_ms: fromMs })
}

/** The rows that the duty takes. */
export function takeDueCall(scope: DutyScope, passedOver: readonly string[]): TakeCall {
  return call(takeDue, { ...scope, passed_over: passedOver })
}

export function takeNamedCall(executionIds: readonly string[]): TakeCall {
  return call(takeNamed, { execution_ids: executionIds })
}

/** In later statements of the transaction: the taken rows whose outermost flows are locked. */
export const takenDispatches = `
taken as materialized (
  select *
  from unnest(nullif(current_setting('ff.taken_ordinals', true), '')::int8[], nullif(current_setting('ff.taken_ids', true), '')::uuid[],
      nullif(current_setting('ff.taken_generations', true), '')::int4[],
      nullif(current_setting('ff.taken_outcomes', true), '')::flowfabric.ff_terminal_outcome[],
      nullif(current_setting('ff.taken_nested', true), '')::bool[])
    as t (ordinal, execution_id, generation, outcome, is_nested)
)`

export const dueDispatchIds = statement({
  name: `duty.${dispatchDuty}.due`,
  params: dueParams,
  row: { execution_id: 'uuid' },
  text: `${withForgotten(dispatchDuty)}
select execution_id
from (${dueDispatches}) due`,
})
