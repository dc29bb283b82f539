// The waitpoints of one suspension, in the order of their ids.
import type { Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import type { UnsignedWaitpoint } from './tokens.ts'

const readStatement = statement({
  name: 'waitpoint.of-suspension',
  params: { execution_id: 'uuid', suspension_id: 'uuid' },
  row: { waitpoint_id: 'uuid', waitpoint_key: 'text', token_kid: 'text', created_at_ms: 'int8' },
  text: `
select waitpoint_id, waitpoint_key, token_kid, created_at_ms
from (
  select *
  from flowfabric.ff_waitpoint_pending
  where execution_id = $1 and suspension_id = $2
  offset 0
) p
order by waitpoint_id`,
})

export async function readWaitpoints(
  sql: Sql,
  executionUuid: string,
  suspensionId: string,
): Promise<UnsignedWaitpoint[]> {
  const rows = await sql.query(readStatement, { execution_id: executionUuid, suspension_id: suspensionId })
  return rows.map((row) => ({
    uuid: row.waitpoint_id,
    key: row.waitpoint_key,
    kid: row.token_kid,
    createdAt: row.created_at_ms,
  }))
}
