// The token of a waitpoint, for whoever has the right to act in its namespace. Every reading leaves an event.
import { EngineError } from '../../model/errors.ts'
import { formatExecutionId, formatWaitpointId, parseWaitpointId, type WaitpointId } from '../../model/id.ts'
import type { WaitpointState } from '../../model/suspension.ts'
import { mintToken } from '../../model/token.ts'
import type { Sql } from '../../sql/sql.ts'
import { oneOf, statement } from '../../sql/statement.ts'
import type { Caller } from '../caller.ts'
import { untilSent } from '../resend.ts'
import type { SigningKeys } from '../signing-key/keys.ts'
import { isStored, keyByKid, storedKeyRow } from '../signing-key/stored-key.ts'

export interface WaitpointToken {
  readonly waitpointId: WaitpointId
  readonly waitpointKey: string
  readonly token: string
}

// The lock holds up nobody; it gives the transaction its id before the event has one, on which the log's readers rely.
const readStatement = statement({
  name: 'waitpoint.read-token',
  params: {
    waitpoint_id: 'uuid',
    partition_key: 'int2',
    namespace: 'text?',
    actor: 'text',
    wire_waitpoint_id: 'text',
  },
  row: {
    execution_id: 'uuid',
    waitpoint_key: 'text',
    created_at_ms: 'int8',
    token_kid: 'text',
    state: oneOf<WaitpointState>(),
    ...storedKeyRow,
  },
  text: `
with found as materialized (
  select e.execution_id, e.flow_id, e.generation, e.namespace, e.partition_key, p.waitpoint_key, p.created_at_ms,
    p.token_kid, p.state
  from flowfabric.ff_waitpoint_pending p
  join flowfabric.ff_exec_core e on e.execution_id = any (array[p.execution_id])
  where p.waitpoint_id = $1 and p.partition_key = $2 and ($3::text is null or e.namespace = $3)
  for key share of e
),
signed as materialized (
  select e.*, k.*
  from found e${keyByKid('e.namespace', 'e.token_kid')}
),
told as (
  insert into flowfabric.ff_event (occurred_at_ms, execution_id, flow_id, generation, event_type, partition_key,
    namespace, actor, details)
  select flowfabric.ff_now_ms(), execution_id, flow_id, generation, 'token_read', partition_key, namespace, $4,
    jsonb_build_object('waitpointId', $5::text)
  from signed
  where state <> 'closed' and key_secret is not null
)
select execution_id, waitpoint_key, created_at_ms, token_kid, state, key_scope, key_kid, key_expires_at_ms,
  key_is_wrapped, key_secret
from signed`,
})

/** Null for a waitpoint that does not exist, or is not the caller's. */
export async function readToken(
  sql: Sql,
  { wrapping }: SigningKeys,
  caller: Caller,
  id: WaitpointId,
): Promise<WaitpointToken | null> {
  const { partition, uuid } = parseWaitpointId(id)
  const waitpointId = formatWaitpointId(partition, uuid)
  const values = {
    waitpoint_id: uuid,
    partition_key: partition,
    namespace: caller.namespace,
    actor: caller.actor,
    wire_waitpoint_id: waitpointId,
  }
  const [found] = await untilSent(sql, { again: false }, () => sql.query(readStatement, values))
  if (found === undefined) return null
  const { waitpoint_key: waitpointKey, token_kid: kid } = found
  if (found.state === 'closed') {
    throw new EngineError(
      'waitpoint_closed',
      `waitpoint ${waitpointId} is closed; its token answers nothing any more`,
      {
        waitpointId,
      },
    )
  }
  if (!isStored(found)) {
    const sentence = `the token of waitpoint ${waitpointId} was signed by key ${kid}, whose grace is over; suspend with a new waitpoint`
    throw new EngineError('signing_key_not_found', sentence, { waitpointId, kid })
  }
  const executionId = formatExecutionId(partition, found.execution_id)
  const subject = { executionId, waitpointId, waitpointKey, createdAt: found.created_at_ms }
  return { waitpointId, waitpointKey, token: mintToken(wrapping.open(found), subject) }
}
