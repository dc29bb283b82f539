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
import { triggerSchedule } from './trigger.ts'

interface Parts {
  /** For reads, in our words; and for what is sent again by the database's own. */
  readonly sql: Sql
  readonly raw: Sql
  readonly queues: QueueRegistry
  readonly onReady: (queueIds: readonly number[]) => void
  readonly onOwed: (owes: number) => void
}

export function schedulesFor({ sql, raw, queues, onReady, onOwed }: Parts, caller: Caller): Schedules {
  return {
    put: (request) => putSchedule(raw, queues, caller, request).catch(throwInOurWords),
    pause: (request) => pauseSchedule(raw, caller, request).catch(throwInOurWords),
    resume: (request) => resumeSchedule(raw, caller, request).catch(throwInOurWords),
    trigger: (request) => triggerSchedule(raw, caller, request, onReady, onOwed).catch(throwInOurWords),
    describe: (request) => describeSchedule(sql, caller, request),
    list: (request = {}) => listSchedules(sql, caller, request),
    delete: (request) => deleteSchedule(raw, caller, request).catch(throwInOurWords),
  }
}
