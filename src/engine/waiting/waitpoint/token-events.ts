// Reading a token, or creating a link in its place, is an event of its execution.
import { call } from '../../../sql/sql.ts'
import { statement } from '../../../sql/statement.ts'
import type { Caller } from '../../kernel/caller.ts'

const eventStatement = statement({
  name: 'waitpoint.token-event',
  params: { execution_id: 'uuid', at_ms: 'int8', actor: 'text', details: 'jsonb' },
  row: {},
  text: `
insert into flowfabric.ff_event (occurred_at_ms, execution_id, flow_id, generation, event_type, partition_key, namespace,
  actor, details)
select $2, execution_id, flow_id, generation, 'token_read', partition_key, namespace, $3, $4
from flowfabric.ff_exec_core
where execution_id = $1`,
})

/**
 * While the execution is locked: the transaction then has its id before the event has one, which the readers of the log
 * rely on.
 */
export function tokenEventCall(
  { actor }: Caller,
  { execution_id, now_ms: at_ms }: { readonly execution_id: string; readonly now_ms: number },
  details: Readonly<Record<string, unknown>>,
) {
  return call(eventStatement, { execution_id, at_ms, actor, details })
}
