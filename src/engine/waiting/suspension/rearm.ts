// Writes when time alone will satisfy a condition that was evaluated and is not satisfied. The operation that evaluated
// it writes this.
import { call } from '../../../sql/sql.ts'
import { statement } from '../../../sql/statement.ts'

const rearm = statement({
  name: 'suspension.rearm',
  params: { execution_ids: 'uuid[]', wake_ats_ms: 'int8?[]' },
  row: {},
  text: `
update flowfabric.ff_suspension_current s
set wake_at_ms = i.wake_at_ms
from unnest($1::uuid[], $2::int8[]) as i (execution_id, wake_at_ms)
where s.execution_id = any (array[i.execution_id]) and s.wake_at_ms is distinct from i.wake_at_ms`,
})

export interface Rearmed {
  /** The execution's. */
  readonly uuid: string
  /** Null when time alone will not. */
  readonly wakeAt: number | null
}

/** For executions that are locked and suspended. */
export function rearmCall(items: readonly Rearmed[]) {
  return call(rearm, {
    execution_ids: items.map(({ uuid }) => uuid),
    wake_ats_ms: items.map(({ wakeAt }) => wakeAt),
  })
}
