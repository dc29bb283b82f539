/**
 * SQL for the state of a waitpoint `p`: one that no suspension has used in time is closed, whether or not the duty has
 * closed it.
 */
export function stateNowSql(p: string): string {
  return `case when ${p}.state = 'pending' and ${p}.expires_at_ms <= flowfabric.ff_now_ms() then 'closed' else ${p}.state end`
}
