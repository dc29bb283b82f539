// What a caller may ask of `schedules.put`, checked whole before anything is sent.
import { createHash } from 'node:crypto'
import { parseDuration, type Duration } from '../../model/duration.ts'
import { refusal } from '../../model/errors.ts'
import { partitionOfKey } from '../../model/id.ts'
import { limits } from '../../model/limits.ts'
import { catchUps, overlaps, type CatchUp, type Overlap } from '../../model/schedule.ts'
import { parseTiming, type TimingRequest } from '../../model/schedule-timing.ts'
import { refuseUnknownFields } from '../../model/shape.ts'
import { oneOf, show } from '../../model/text.ts'
import type { Caller } from '../kernel/caller.ts'
import { checkCreateRequest, type CreateRequest } from '../execution/create-request.ts'
import type { CheckedExecution } from '../transition/new-execution.ts'
import { checkTime } from '../kernel/time.ts'
import { checkScheduleId } from './named.ts'

/** The create request of its executions, without the fields that differ between them. */
export type ScheduledExecution = Pick<
  CreateRequest,
  | 'kind'
  | 'namespace'
  | 'lane'
  | 'version'
  | 'input'
  | 'payload'
  | 'payloadEncoding'
  | 'priority'
  | 'deadline'
  | 'requiredCapabilities'
  | 'tags'
  | 'policy'
  | 'taskDefaults'
>

export interface PutScheduleRequest extends ScheduledExecution {
  /** 1 to 200 bytes, within the namespace. */
  readonly scheduleId: string
  /** Five fields, or six with seconds, or a word such as `@daily`; in `timeZone`, which is UTC when left out. */
  readonly cron?: string
  readonly timeZone?: string
  /** Once an interval of at least a second, counted from when it was first put. */
  readonly every?: Duration
  /** When the last execution has not ended: `skip` (the default), `queue`, `cancelPrevious` or `allow`. */
  readonly overlap?: Overlap
  /**
   * Which missed times still create an execution: `none`, the `last` (the default), or `all` up to `catchUpLimit`, the
   * newest first. Times are missed while no process runs duties.
   */
  readonly catchUp?: CatchUp
  /** 1 to 1,000; 100 when left out. */
  readonly catchUpLimit?: number
  /** Each execution may be claimed up to so much later, so that not all begin at once. */
  readonly jitter?: Duration
  /** No time after this one. */
  readonly until?: number
}

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

const executionFields = [
  'kind',
  'namespace',
  'lane',
  'version',
  'input',
  'payload',
  'payloadEncoding',
  'priority',
  'deadline',
  'requiredCapabilities',
  'tags',
  'policy',
  'taskDefaults',
] as const satisfies readonly (keyof ScheduledExecution)[]

const ownFields = [
  'scheduleId',
  'cron',
  'timeZone',
  'every',
  'overlap',
  'catchUp',
  'catchUpLimit',
  'jitter',
  'until',
] as const satisfies readonly (keyof PutScheduleRequest)[]

export function checkPutRequest(caller: Caller, request: PutScheduleRequest): NewSchedule {
  refuseUnknownFields('schedules.put', request, [...ownFields, ...executionFields])
  const scheduleId = checkScheduleId(request.scheduleId)
  const { overlap = 'skip', catchUp = 'last', jitter, until } = request
  const given = executionFields.flatMap((field) => (request[field] === undefined ? [] : [[field, request[field]]]))
  const execution = checkCreateRequest(caller, {
    ...(Object.fromEntries(given) as ScheduledExecution),
    creator: creatorOf(scheduleId),
  })
  const { namespace } = execution.queue
  const asked = {
    timing: parseTiming(request),
    overlap: checkWord('overlap', overlap, overlaps),
    catchUp: checkWord('catchUp', catchUp, catchUps),
    catchUpLimit: checkLimit(request.catchUpLimit, catchUp),
    jitterMs: jitter === undefined ? 0 : checkJitter(jitter),
    until: until === undefined ? null : checkTime('until', until),
  }
  const partition = partitionOfKey(namespace, scheduleId)
  return { scheduleId, namespace, partition, ...asked, execution, requestHash: hashRequest(asked, execution) }
}

/** Who asked for the executions of a schedule. */
export function creatorOf(scheduleId: string): string {
  return `schedule ${scheduleId}`
}

function checkWord<Word extends string>(field: string, value: unknown, words: readonly Word[]): Word {
  const known = words.find((word) => word === value)
  if (known !== undefined) return known
  throw refusal('invalid_input', field, show(value), oneOf(value, words))
}

function checkLimit(limit: unknown, catchUp: CatchUp): number {
  if (limit === undefined) return limits.defaultCatchUpCount
  if (catchUp !== 'all') throw refusal('invalid_input', 'catchUpLimit', show(limit), "omitted, unless catchUp is 'all'")
  if (Number.isInteger(limit) && (limit as number) >= 1 && (limit as number) <= limits.catchUpCount)
    return limit as number
  throw refusal('invalid_input', 'catchUpLimit', show(limit), `a whole number from 1 to ${limits.catchUpCount}`)
}

function checkJitter(jitter: Duration): number {
  const jitterMs = parseDuration('jitter', jitter)
  if (jitterMs <= limits.jitterMs) return jitterMs
  throw refusal('invalid_input', 'jitter', show(jitter), 'at most a day')
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
