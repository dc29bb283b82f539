/** Whether a member is cancelled with its flow: by the flow's policy, and the time of the member's first run. */
export function goesWithFlowSql(policy: string, startedAt: string): string {
  return `coalesce(${policy} = 'cancel_all' or ${policy} = 'cancel_pending' and ${startedAt} is null, false)`
}
