// A condition takes the signals that satisfied it, once. A resumed run receives the taken signals of its suspension, in the
// order of their numbers.
import { call } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'

const takeSignals = statement({
  name: 'suspension.take-signals',
  params: { execution_ids: 'uuid[]', signal_nos: 'int8[]', suspension_ids: 'uuid[]', taken_at_ms: 'int8' },
  row: {},
  text: `
update flowfabric.ff_signal g
set taken_at_ms = $4, suspension_id = t.suspension_id
from unnest($1::uuid[], $2::int8[], $3::uuid[]) as t (execution_id, signal_no, suspension_id)
where g.execution_id = any (array[t.execution_id]) and g.signal_no = any (array[t.signal_no])`,
})

export interface TakenSignal {
  /** The execution's. */
  readonly uuid: string
  readonly signalNumber: number
  readonly suspensionId: string
}

/** Must be sent while the executions are locked. */
export function takeSignalsCall(taken: readonly TakenSignal[], takenAt: number) {
  return call(takeSignals, {
    execution_ids: taken.map(({ uuid }) => uuid),
    signal_nos: taken.map(({ signalNumber }) => signalNumber),
    suspension_ids: taken.map(({ suspensionId }) => suspensionId),
    taken_at_ms: takenAt,
  })
}
