import type { Columns } from '../../sql/statement.ts'

/**
 * A CTE `owed`, from a row `from` with flow_id and now_ms: writes a dispatch row for those of the executions that have
 * ended, again if they were counted before, because a new edge has to be resolved.
 */
export function oweDispatch(from: string, executionIds: string): string {
  return owing(from, executionIds, true)
}

/** The same for an execution that was no member until now. */
export function oweFirstDispatch(from: string, executionId: string): string {
  return owing(from, `array[${executionId}]`, false)
}

function owing(from: string, executionIds: string, isCounted: boolean): string {
  return `
owed as (
  insert into flowfabric.ff_dispatch (execution_id, generation, flow_id, created_at_ms, outcome, is_counted)
  select e.execution_id, e.generation, c.flow_id, c.now_ms, e.terminal_outcome, ${isCounted}
  from ${from} c
  cross join unnest(${executionIds}::uuid[]) as i (execution_id)
  join flowfabric.ff_exec_core e on e.execution_id = any (array[i.execution_id])
  where e.lifecycle_phase = 'terminal'
  on conflict (execution_id, generation, outcome) do update set flow_id = excluded.flow_id
  returning execution_id
)`
}

/**
 * The writes of an edit return this themselves: an upstream may have ended since it was read, and the resolver of its
 * ending skips a row that is locked here.
 */
export const owedRow = { owes: 'bool' } as const satisfies Columns

export const owedAnswer = 'select exists (select from owed) as owes'
