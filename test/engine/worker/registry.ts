import type { RegisterRequest } from '../../../src/engine/worker/register.ts'
import type { Sql } from '../../../src/sql/sql.ts'
import { rows, type Row } from '../../support/raw.ts'

export const one = {
  workerId: 'mailer',
  workerInstanceId: 'mailer-1',
  lanes: ['mail'],
} satisfies RegisterRequest

/** The workers' events in the log, oldest first. */
export function workerEvents(sql: Sql): Promise<Row[]> {
  return rows(
    sql,
    `select event_type, namespace, actor, worker_instance_id, reason, details
     from flowfabric.ff_event where event_type::text like 'worker%' order by event_id`,
  )
}
