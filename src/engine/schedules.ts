// The operations on schedules, each with the caller as its first argument.
import type { Sql } from '../sql/sql.ts'
import type { ForCaller } from './kernel/bound.ts'
import type { Schedules } from './contract.ts'
import type { DirectOperations } from './direct.ts'
import type { QueueRegistry } from './queue/intern.ts'
import type { TaskRegistry } from './task/registry.ts'
import { deleteSchedule } from './schedule/delete.ts'
import { describeSchedule } from './schedule/describe.ts'
import { listSchedules } from './schedule/list.ts'
import { pauseSchedule } from './schedule/pause.ts'
import { putSchedule } from './schedule/put.ts'
import { resumeSchedule } from './schedule/resume.ts'
import { triggerSchedule } from './schedule/trigger.ts'

interface ScheduleDeps extends DirectOperations {
  readonly session: Sql
  readonly queues: QueueRegistry
  readonly tasks: TaskRegistry
}

export function scheduleOperations({
  session: sql,
  queues,
  tasks,
  written,
  logged,
}: ScheduleDeps): ForCaller<Schedules> {
  return {
    put: logged((caller, request) => putSchedule(sql, queues, tasks, caller, request)),
    pause: logged((caller, request) => pauseSchedule(sql, caller, request)),
    resume: logged((caller, request) => resumeSchedule(sql, caller, request)),
    trigger: written((caller, request) => triggerSchedule(sql, caller, request)),
    describe: (caller, request) => describeSchedule(sql, caller, request),
    list: (caller, request = {}) => listSchedules(sql, caller, request),
    delete: logged((caller, request) => deleteSchedule(sql, caller, request)),
  }
}
