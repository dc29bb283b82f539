// The operations on schedules, each for the caller that it is given.
import type { Sql } from '../../sql/sql.ts'
import type { ForCaller } from '../bound.ts'
import type { Schedules } from '../contract.ts'
import { throwInOurWords } from '../failure.ts'
import type { QueueRegistry } from '../queue/intern.ts'
import type { TaskRegistry } from '../task/registry.ts'
import { deleteSchedule } from './delete.ts'
import { describeSchedule } from './describe.ts'
import { listSchedules } from './list.ts'
import { pauseSchedule } from './pause.ts'
import { putSchedule } from './put.ts'
import { resumeSchedule } from './resume.ts'
import { triggerSchedule, type Telling } from './trigger.ts'

interface Parts extends Telling {
  /** For reads, in our words; and for what is sent again by the database's own. */
  readonly sql: Sql
  readonly raw: Sql
  readonly queues: QueueRegistry
  readonly tasks: TaskRegistry
}

export function scheduleOperations({ sql, raw, queues, tasks, ...telling }: Parts): ForCaller<Schedules> {
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
