// The leases of a worker that was killed run out at once, and not only when their time is over: the test goes on from there.
import { leaseExpiry } from '../engine/duties/lease-expiry.ts'
import type { Sql } from '../sql/sql.ts'
import { statement } from '../sql/statement.ts'

const runOut = statement({
  name: 'testing.let-lapse',
  params: { worker_instance_id: 'text' },
  row: { execution_id: 'uuid' },
  text: `
update flowfabric.ff_lease
set expires_at_ms = flowfabric.ff_now_ms() - 1
where worker_instance_id = $1
returning execution_id`,
})

export async function letLapse(sql: Sql, workerInstanceId: string): Promise<void> {
  await sql.query(runOut, { worker_instance_id: workerInstanceId })
  await leaseExpiry.runOnce(sql)
}
