/** Whether a member goes with its cancelled flow. Of the flow's policy and of when the member first ran. */
export function goesWithFlowSql(policy: string, startedAt: string): string {
  return `coalesce(${policy} = 'cancel_all' or ${policy} = 'cancel_pending' and ${startedAt} is null, false)`
}
