// The pieces that the statements of the dispatcher share while they find their rows themselves.
import type { RowOf } from '../../sql/statement.ts'
import { inDutyScope } from './due.ts'
import { emptyDutySet, type DutySet } from './run-duty.ts'
import { scopeParams } from './scope.ts'

export const dutyParams = {
  ...scopeParams,
  /** These rows and no others; empty: the due rows. */
  only: 'uuid[]',
} as const

export const dutyRow = {
  seen: 'int8',
  processed: 'int8',
  ready_queue_ids: 'int4[]',
  /** The dispatch that its endings need. */
  pending_dispatch: 'int4',
  /** Running executions that it ended. */
  stopped_run_ids: 'uuid[]',
} as const

/** The conditions on `ff_exec_core e` in the query for due rows, which ends with `limit $1`. */
export function inScope(duty: string): string {
  return `cardinality($5::uuid[]) = 0
  and ${inDutyScope(duty)}`
}

/** Removes processed rows from quarantine. */
export function deleteQuarantine(duty: string, acted: string): string {
  return `unquarantined as (
  delete from flowfabric.ff_set_aside s
  where s.duty = '${duty}'
    and (s.subject_id in (select execution_id from ${acted})
      or s.retry_at_ms < flowfabric.ff_now_ms() - 3600000)
)`
}

export function dutySetOfRow(row: RowOf<typeof dutyRow>): DutySet {
  const {
    seen,
    processed,
    ready_queue_ids: readyQueueIds,
    pending_dispatch: pendingDispatch,
    stopped_run_ids: stoppedRunIds,
  } = row
  if (seen === 0) return emptyDutySet
  return { seen, processed, effects: { readyQueueIds, pendingDispatch, stoppedRunIds, wroteEvents: processed > 0 } }
}
