// The operations on schedules, for one caller.
import type { Sql } from '../../sql/sql.ts'
import type { Caller } from '../caller.ts'
import type { Schedules } from '../contract.ts'
import { throwInOurWords } from '../failure.ts'
import type { QueueRegistry } from '../queue/intern.ts'
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
}

export function schedulesFor({ sql, raw, queues, ...telling }: Parts, caller: Caller): Schedules {
  return {
    put: (request) => putSchedule(raw, queues, caller, request).catch(throwInOurWords),
    pause: (request) => pauseSchedule(raw, caller, request).catch(throwInOurWords),
    resume: (request) => resumeSchedule(raw, caller, request).catch(throwInOurWords),
    trigger: (request) => triggerSchedule(raw, caller, request, telling).catch(throwInOurWords),
    describe: (request) => describeSchedule(sql, caller, request),
    list: (request = {}) => listSchedules(sql, caller, request),
    delete: (request) => deleteSchedule(raw, caller, request).catch(throwInOurWords),
  }
}
