// A caller names a schedule by an id within a namespace.
import { EngineError } from '../../model/errors.ts'
import { text } from '../../model/field-kinds.ts'
import { checkFields, type RequestOf } from '../../model/field.ts'
import { limits } from '../../model/limits.ts'
import { namespace } from '../../model/named-fields.ts'
import type { ValuesOf } from '../../sql/statement.ts'
import { namespaceFor, type Caller } from '../kernel/caller.ts'

/** 1 to 200 bytes, within the namespace. */
export const scheduleId = text({ minBytes: 1, maxBytes: limits.scheduleIdBytes, refuseControls: true })

export const namedScheduleFields = {
  scheduleId,
  /** Left out: the caller's namespace, otherwise `default`. */
  namespace: namespace.optional(),
}

export interface NamedSchedule extends RequestOf<typeof namedScheduleFields> {}

/** `$1` and `$2` of statements for one schedule. */
export const nameParams = { namespace: 'text', schedule_name: 'text' } as const

export function checkNamed(operation: string, caller: Caller, request: NamedSchedule): ValuesOf<typeof nameParams> {
  const { scheduleId } = checkFields(operation, namedScheduleFields, request)
  return { namespace: namespaceFor(caller, request.namespace), schedule_name: scheduleId }
}

export function scheduleNotFound(scheduleId: string): EngineError {
  return new EngineError(
    'schedule_not_found',
    `schedule '${scheduleId}' does not exist; create it with schedules.put`,
    { scheduleId },
  )
}
