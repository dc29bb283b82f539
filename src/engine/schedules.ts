// The operations on schedules, each for the caller that it is given.
import type { Sql } from '../sql/sql.ts'
import type { ForCaller } from './kernel/bound.ts'
import type { Schedules } from './contract.ts'
import { throwInOurWords } from './kernel/failure.ts'
import type { QueueRegistry } from './queue/intern.ts'
import type { TaskRegistry } from './task/registry.ts'
import { deleteSchedule } from './schedule/delete.ts'
import { describeSchedule } from './schedule/describe.ts'
import { listSchedules } from './schedule/list.ts'
import { pauseSchedule } from './schedule/pause.ts'
import { putSchedule } from './schedule/put.ts'
import { resumeSchedule } from './schedule/resume.ts'
import { triggerSchedule, type Telling } from './schedule/trigger.ts'

interface ScheduleDeps extends Telling {
  /** For reads, in our words; and for what is sent again by the database's own. */
  readonly sql: Sql
  readonly raw: Sql
  readonly queues: QueueRegistry
  readonly tasks: TaskRegistry
}

export function scheduleOperations({ sql, raw, queues, tasks, ...telling }: ScheduleDeps): ForCaller<Schedules> {
  return {
    put: (caller, request) => putSchedule(raw, queues, tasks, caller, request).catch(throwInOurWords),
    pause: (caller, request) => pauseSchedule(raw, caller, request).catch(throwInOurWords),
    resume: (caller, request) => resumeSchedule(raw, caller, request).catch(throwInOurWords),
    trigger: (caller, request) => triggerSchedule(raw, caller, request, telling).catch(throwInOurWords),
    describe: (caller, request) => describeSchedule(sql, caller, request),
    list: (caller, request = {}) => listSchedules(sql, caller, request),
    delete: (caller, request) => deleteSchedule(raw, caller, request).catch(throwInOurWords),
  }
}
