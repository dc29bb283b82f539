/**
 * A CTE `clock` with `now_ms`, read once, when every row of the CTE `locked` has been locked: to count them, all must be there.
 * One that stood free would be as old as the wait for the locks.
 */
export function clockAfter(locked: string): string {
  return `clock as materialized (
  select flowfabric.ff_now_ms() as now_ms
  from ${locked}
  having count(*) >= 0
)`
}
