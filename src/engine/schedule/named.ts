// A caller names a schedule by an id within a namespace.
import { EngineError } from '../../model/errors.ts'
import { limits } from '../../model/limits.ts'
import { refuseUnknownFields } from '../../model/shape.ts'
import { checkText } from '../../model/text.ts'
import type { ValuesOf } from '../../sql/statement.ts'
import { namespaceFor, type Caller } from '../kernel/caller.ts'

export interface NamedSchedule {
  readonly scheduleId: string
  /** Left out: the caller's namespace, otherwise `default`. */
  readonly namespace?: string
}

/** `$1` and `$2` of statements for one schedule. */
export const nameParams = { namespace: 'text', schedule_name: 'text' } as const

export function checkNamed(operation: string, caller: Caller, request: NamedSchedule): ValuesOf<typeof nameParams> {
  refuseUnknownFields(operation, request, ['scheduleId', 'namespace'])
  return { namespace: namespaceFor(caller, request.namespace), schedule_name: checkScheduleId(request.scheduleId) }
}

export function checkScheduleId(value: unknown): string {
  return checkText('scheduleId', value, { minBytes: 1, maxBytes: limits.scheduleIdBytes, refuseControls: true })
}

export function scheduleNotFound(scheduleId: string): EngineError {
  return new EngineError(
    'schedule_not_found',
    `schedule '${scheduleId}' does not exist; create it with schedules.put`,
    { scheduleId },
  )
}
