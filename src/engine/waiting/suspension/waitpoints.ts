// The waitpoints of a suspension, in the order of their ids. Kept waitpoints have no suspension until the next one
// reuses or closes them, and are found by the ids and keys of the request.
import type { Sql } from '../../../sql/sql.ts'
import { statement } from '../../../sql/statement.ts'
import type { NewSuspension } from './request.ts'
import type { UnsignedWaitpoint } from '../waitpoint/tokens.ts'

const readStatement = statement({
  name: 'waitpoint.of-suspension',
  params: { execution_id: 'uuid', suspension_id: 'uuid', kept_ids: 'uuid[]', kept_keys: 'text[]' },
  row: { waitpoint_id: 'uuid', waitpoint_key: 'text', token_kid: 'text', created_at_ms: 'int8' },
  text: `
select waitpoint_id, waitpoint_key, token_kid, created_at_ms
from (
  select *
  from flowfabric.ff_waitpoint_pending
  where execution_id = $1 and suspension_id = $2
  union all
  select *
  from flowfabric.ff_waitpoint_pending
  where execution_id = $1 and suspension_id is null and state = 'pending'
    and (waitpoint_id = any ($3) or not is_made_ahead and waitpoint_key = any ($4))
  offset 0
) p
order by waitpoint_id`,
})

/** `item` is the repeated request. */
export async function readWaitpoints(
  sql: Sql,
  { uuid, bindings, keepsWaitpoints }: NewSuspension,
  suspensionId: string,
): Promise<UnsignedWaitpoint[]> {
  const kept = keepsWaitpoints ? bindings : []
  const rows = await sql.query(readStatement, {
    execution_id: uuid,
    suspension_id: suspensionId,
    kept_ids: kept.flatMap((binding) => (binding.key === null ? [binding.uuid] : [])),
    kept_keys: kept.flatMap(({ key }) => key ?? []),
  })
  return rows.map((row) => ({
    uuid: row.waitpoint_id,
    key: row.waitpoint_key,
    kid: row.token_kid,
    createdAt: row.created_at_ms,
  }))
}
