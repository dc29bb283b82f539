// Signals that nothing has taken, found by where they came in and not among all that an execution has ever received. Written as
// the index of them has it (`ff_signal_open`): the planner sees no difference between that and the primary key while the table
// is empty, and keeps what it chose.

/** SQL for where a signal came in: all that come by name share the nil waitpoint. */
export const byNameSql = `'00000000-0000-0000-0000-000000000000'::uuid`
export const doorSql = (signal: string): string => `coalesce(${signal}.waitpoint_id, ${byNameSql})`

/** For a lateral join: those that came through a waitpoint; of a row with its execution_id and waitpoint_id. */
export function waitingAt(waitpoint: string): string {
  return `
    select g.*
    from flowfabric.ff_signal g
    where g.execution_id = ${waitpoint}.execution_id and ${doorSql('g')} = ${waitpoint}.waitpoint_id
      and g.taken_at_ms is null
    offset 0`
}

/** For a lateral join: those that were sent by name; of a row with its execution_id and generation. */
export function waitingByName(execution: string): string {
  return `
    select g.*
    from flowfabric.ff_signal g
    where g.execution_id = ${execution}.execution_id and ${doorSql('g')} = ${byNameSql}
      and g.generation = ${execution}.generation and g.taken_at_ms is null
    offset 0`
}
