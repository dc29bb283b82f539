/**
 * A CTE `clock` with `now_ms`, read once, after every row of the CTE `locked` has been locked: counting them needs all of them.
 * Without that dependency the clock could be read before the wait for the locks.
 */
export function clockAfter(locked: string): string {
  return `clock as materialized (
  select flowfabric.ff_now_ms() as now_ms
  from ${locked}
  having count(*) >= 0
)`
}
