// Schedules as a user writes them: a task or the name of its kind, an input, and the times.
import type { Schedules } from '../engine/contract.ts'
import type { ListSchedulesRequest, SchedulePage } from '../engine/schedule/list.ts'
import type { SchedulePaused } from '../engine/schedule/pause.ts'
import type { SchedulePut } from '../engine/schedule/put.ts'
import type { PutScheduleRequest, ScheduledExecution } from '../engine/schedule/put-request.ts'
import type { ScheduleDeleted } from '../engine/schedule/delete.ts'
import type { ScheduleResumed } from '../engine/schedule/resume.ts'
import type { Schedule } from '../engine/schedule/schedule.ts'
import type { TriggerResult } from '../engine/schedule/trigger.ts'
import { decodeValue, encodeValue, type Codec } from '../model/codec.ts'
import { EngineError, refusal } from '../model/errors.ts'
import { show } from '../model/text.ts'
import { defined, requestOf as submission } from '../worker/submission.ts'
import { isTask, type Task } from '../worker/task.ts'

interface CommonOptions extends Omit<
  PutScheduleRequest,
  'scheduleId' | 'kind' | 'input' | 'payload' | 'payloadEncoding' | 'until' | 'taskDefaults'
> {
  /** The last possible time. */
  readonly until?: Date | number
}

/** A task, with its lane, version, policy and input; or the name of a kind. */
export type ScheduleOptions<In = unknown> = TaskSchedule<In> | KindSchedule

export type TaskSchedule<In> = CommonOptions & {
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly task: Task<In, any, any>
  readonly kind?: undefined
} & (undefined extends In ? { readonly input?: NoInfer<In> } : { readonly input: NoInfer<In> })

export interface KindSchedule extends CommonOptions {
  readonly kind: string
  readonly task?: undefined
  /** Left out: none. */
  readonly input?: unknown
}

/** The fields of both forms, as far as they matter here. */
interface GivenSchedule extends CommonOptions {
  readonly task?: unknown
  readonly kind?: string | undefined
  readonly input?: unknown
}

/** The namespace of the schedule, for a caller of more than one namespace. */
export interface ScheduleScope {
  readonly namespace?: string
}

export interface UserSchedules {
  /**
   * Creates or updates the schedule. The same options again change nothing, so an application can put its schedules at
   * every start.
   *
   * @example
   * await ff.schedules.put('nightly', { kind: 'report', cron: '30 2 * * *', timeZone: 'Europe/Berlin' })
   */
  put<In>(id: string, options: ScheduleOptions<In>): Promise<SchedulePut>
  pause(id: string, scope?: ScheduleScope): Promise<SchedulePaused>
  resume(id: string, scope?: ScheduleScope): Promise<ScheduleResumed>
  /** Fires it now, paused or not. */
  trigger(id: string, scope?: ScheduleScope): Promise<TriggerResult>
  /** With its input; null when it does not exist. */
  describe(id: string, scope?: ScheduleScope): Promise<(Schedule & { readonly input: unknown }) | null>
  list(request?: ListSchedulesRequest): Promise<SchedulePage>
  delete(id: string, scope?: ScheduleScope): Promise<ScheduleDeleted>
}

export function userSchedules(schedules: Schedules, codec: Codec): UserSchedules {
  return {
    put: async (id, options) => schedules.put(await requestOf(id, options, codec)),
    pause: (id, scope) => schedules.pause({ ...scope, scheduleId: id }),
    resume: (id, scope) => schedules.resume({ ...scope, scheduleId: id }),
    trigger: (id, scope) => schedules.trigger({ ...scope, scheduleId: id }),
    describe: async (id, scope) => {
      const found = await schedules.describe({ ...scope, scheduleId: id })
      if (found === null) return null
      const { payload, payloadEncoding, ...schedule } = found
      return { ...schedule, input: decodeValue(codec, 'the input', payload, payloadEncoding) }
    },
    list: (request) => schedules.list(request),
    delete: (id, scope) => schedules.delete({ ...scope, scheduleId: id }),
  }
}

async function requestOf(id: string, options: GivenSchedule, codec: Codec): Promise<PutScheduleRequest> {
  if (typeof options !== 'object' || options === null) {
    throw refusal('invalid_input', `the schedule '${id}'`, show(options), 'an object with a task and its times')
  }
  const { task, kind, input, until, ...rest } = options
  return {
    ...(await executionOf(task, kind, input, codec)),
    ...defined(rest),
    scheduleId: id,
    ...(until === undefined ? {} : { until: until instanceof Date ? until.getTime() : until }),
  }
}

/** The execution that each firing creates, as a submit would. */
async function executionOf(
  task: unknown,
  kind: string | undefined,
  input: unknown,
  codec: Codec,
): Promise<ScheduledExecution> {
  if ((task === undefined) === (kind === undefined)) {
    const found = task === undefined ? 'neither task nor kind is given' : 'task and kind are both given'
    throw new EngineError('invalid_input', `${found}; give one of them`, { field: 'task' })
  }
  if (kind !== undefined) {
    const encoded = encodeValue(codec, 'the input', input)
    return { kind, ...(encoded !== null && { payload: encoded.bytes, payloadEncoding: encoded.encoding }) }
  }
  if (!isTask(task)) throw refusal('invalid_input', 'task', show(task), 'a task, or leave it out and name its kind')
  return submission(codec, task, input, {})
}
