// What a caller may ask of `schedules.put`, checked whole before anything is sent.
import { createHash } from 'node:crypto'
import type { Duration } from '../../model/duration.ts'
import { refusal } from '../../model/errors.ts'
import { duration, time, unchecked, whole, word } from '../../model/field-kinds.ts'
import { checkFields, type RequestOf, type Wire } from '../../model/field.ts'
import { partitionOfKey } from '../../model/id.ts'
import { limits } from '../../model/limits.ts'
import { namespace } from '../../model/named-fields.ts'
import { catchUps, overlaps, type CatchUp, type Overlap } from '../../model/schedule.ts'
import { parseTiming, type TimingRequest } from '../../model/schedule-timing.ts'
import { show } from '../../model/text.ts'
import type { Caller } from '../kernel/caller.ts'
import { checkCreateRequest, executionFields } from '../execution/create-request.ts'
import type { CheckedExecution } from '../transition/new-execution.ts'
import { scheduleId } from './named.ts'

/** The fields of its executions. */
const scheduledFields = { ...executionFields, namespace: namespace.optional() }

export interface ScheduledExecution extends RequestOf<typeof scheduledFields> {}

const line = (maxBytes: number): Wire => ({ kind: 'text', rule: { minBytes: 1, maxBytes, printableAscii: true } })

export const putScheduleFields = {
  /** 1 to 200 bytes, within the namespace. */
  scheduleId,
  ...scheduledFields,
  /** Five fields, or six with seconds, or a word such as `@daily`; in `timeZone`, which is UTC when left out. */
  cron: unchecked<string>(line(limits.cronBytes)).optional(),
  timeZone: unchecked<string>(line(limits.timeZoneBytes)).optional(),
  /** Once an interval of at least a second, counted from when it was first put. */
  every: unchecked<Duration>({ kind: 'duration' }).optional(),
  /** When the last execution has not ended: `skip` (the default), `queue`, `cancelPrevious` or `allow`. */
  overlap: word(overlaps).default('skip'),
  /**
   * Which missed times still create an execution: `none`, the `last` (the default), or `all` up to `catchUpLimit`, the
   * newest first. Times are missed while no process runs duties.
   */
  catchUp: word(catchUps).default('last'),
  /** 1 to 1,000; 100 when left out. */
  catchUpLimit: whole({ min: 1, max: limits.catchUpCount }).optional(),
  /** Each execution may be claimed up to so much later, so that not all begin at once. */
  jitter: duration({ maxMs: limits.jitterMs, allowed: 'at most a day' }).default(0),
  /** No time after this one. */
  until: time().optional(),
}

export interface PutScheduleRequest extends RequestOf<typeof putScheduleFields> {}

/** A checked request. */
export interface NewSchedule {
  readonly scheduleId: string
  readonly namespace: string
  readonly partition: number
  readonly timing: TimingRequest
  readonly overlap: Overlap
  readonly catchUp: CatchUp
  readonly catchUpLimit: number
  readonly jitterMs: number
  readonly until: number | null
  readonly execution: CheckedExecution
  readonly requestHash: Uint8Array
}

export function checkPutRequest(caller: Caller, request: PutScheduleRequest): NewSchedule {
  const { scheduleId, overlap, catchUp, ...checked } = checkFields('schedules.put', putScheduleFields, request)
  const execution = checkCreateRequest(caller, { ...scheduledOf(request), creator: creatorOf(scheduleId) })
  const { namespace } = execution.queue
  if (checked.catchUpLimit !== null && catchUp !== 'all') {
    throw refusal('invalid_input', 'catchUpLimit', show(checked.catchUpLimit), "omitted, unless catchUp is 'all'")
  }
  // In this order, which the hash of the request depends on.
  const asked = {
    timing: parseTiming(request),
    overlap,
    catchUp,
    catchUpLimit: checked.catchUpLimit ?? limits.defaultCatchUpCount,
    jitterMs: checked.jitterMs,
    until: checked.until,
  }
  const partition = partitionOfKey(namespace, scheduleId)
  return { scheduleId, namespace, partition, ...asked, execution, requestHash: hashRequest(asked, execution) }
}

/** Who asked for the executions of a schedule. */
export function creatorOf(scheduleId: string): string {
  return `schedule ${scheduleId}`
}

function scheduledOf(request: PutScheduleRequest): ScheduledExecution {
  const given = Object.entries(request).filter(([name, value]) => name in scheduledFields && value !== undefined)
  return Object.fromEntries(given) as unknown as ScheduledExecution
}

// The same request again changes nothing, though every start of an application puts its schedules.
function hashRequest(
  asked: object,
  { queue, givenLane, priority, deadlineMs, policy, tags, taskDefaults, payload, payloadEncoding }: CheckedExecution,
) {
  const own = [queue, givenLane, priority, deadlineMs, policy, tags, taskDefaults]
  const rest = JSON.stringify([asked, own, payloadEncoding])
  const hash = createHash('sha256').update(rest)
  if (payload !== null) hash.update(payload)
  return new Uint8Array(hash.digest())
}
