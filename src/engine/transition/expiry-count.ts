/**
 * Whether a step was recorded under the current lease of `ff_exec_core` as `execution`: the newest record has its epoch. Read
 * only when the lease ends without one of the holder's own writes, so that recording a step writes no count. A record that
 * commits while the reading statement runs may be missed, and counts at the next expiry.
 */
export function hasRecordedSql(execution: string): string {
  return `coalesce((
      select s.lease_epoch
      from flowfabric.ff_step s
      where s.execution_id = ${execution}.execution_id and s.step_no > 0
      order by s.step_no desc
      limit 1) = ${execution}.lease_epoch, false)`
}
