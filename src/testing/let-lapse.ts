// The leases of a killed worker expire at once, without waiting for their time: the test continues from there.
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
