// Signals that no condition has taken, found by the waitpoint they came through and not among all that an execution has received.
// The predicate is written as in their index (`ff_signal_open`): while the table is empty, the planner sees no difference between
// that index and the primary key, and keeps the plan that it chose.

/** SQL for the waitpoint of a signal: all signals by name share the nil waitpoint. */
export const byNameSql = `'00000000-0000-0000-0000-000000000000'::uuid`
export const doorSql = (signal: string): string => `coalesce(${signal}.waitpoint_id, ${byNameSql})`

/** For a lateral join: the signals through a waitpoint, for a row with its execution_id and waitpoint_id. */
export function waitingAt(waitpoint: string): string {
  return `
    select g.*
    from flowfabric.ff_signal g
    where g.execution_id = ${waitpoint}.execution_id and ${doorSql('g')} = ${waitpoint}.waitpoint_id
      and g.taken_at_ms is null
    offset 0`
}

/** For a lateral join: the signals by name, for a row with its execution_id and generation. */
export function waitingByName(execution: string): string {
  return `
    select g.*
    from flowfabric.ff_signal g
    where g.execution_id = ${execution}.execution_id and ${doorSql('g')} = ${byNameSql}
      and g.generation = ${execution}.generation and g.taken_at_ms is null
    offset 0`
}
