import type { RegisterRequest } from '../../../src/engine/worker/register.ts'
import type { Sql } from '../../../src/sql/sql.ts'
import type { Row } from '../../support/raw.ts'
import * as stored from '../../support/stored.ts'

export const one = {
  workerId: 'mailer',
  workerInstanceId: 'mailer-1',
  lanes: ['mail'],
} satisfies RegisterRequest

/** The workers' events in the log, oldest first. */
export function workerEvents(sql: Sql): Promise<Row[]> {
  return stored.events.pick(
    sql,
    ['event_type', 'namespace', 'actor', 'worker_instance_id', 'reason', 'details'],
    `event_type::text like 'worker%'`,
  )
}
