// The token of a waitpoint, for a caller with the right to act in its namespace. Every read writes an event.
import { EngineError } from '../../../model/errors.ts'
import { formatExecutionId, formatWaitpointId, parseWaitpointId, type WaitpointId } from '../../../model/id.ts'
import type { WaitpointState } from '../../../model/suspension.ts'
import { isLive } from '../../../model/signing-key.ts'
import { mintToken } from '../../../model/token.ts'
import { call, type RowsOf, type Sql } from '../../../sql/sql.ts'
import { oneOf, statement, type RowOf } from '../../../sql/statement.ts'
import type { Caller } from '../../kernel/caller.ts'
import { untilSent } from '../../kernel/resend.ts'
import type { SigningKeys } from '../../signing-key/keys.ts'
import { isStored, keyByKid, storedKeyRow } from '../../signing-key/stored-key.ts'
import { stateNowSql } from './state-now.ts'
import { tokenEventCall } from './token-events.ts'

export interface WaitpointToken {
  readonly waitpointId: WaitpointId
  readonly waitpointKey: string
  readonly token: string
}

// The lock blocks no other operation.
const readStatement = statement({
  name: 'waitpoint.read-token',
  params: { waitpoint_id: 'uuid', partition_key: 'int2', namespace: 'text?' },
  row: {
    execution_id: 'uuid',
    waitpoint_key: 'text',
    created_at_ms: 'int8',
    token_kid: 'text',
    state: oneOf<WaitpointState>(),
    now_ms: 'int8',
    ...storedKeyRow,
  },
  text: `
with found as materialized (
  select e.execution_id, e.namespace, p.waitpoint_key, p.created_at_ms, p.token_kid,
    ${stateNowSql('p')} as state, flowfabric.ff_now_ms() as now_ms
  from flowfabric.ff_waitpoint_pending p
  join flowfabric.ff_exec_core e on e.execution_id = any (array[p.execution_id])
  where p.waitpoint_id = $1 and p.partition_key = $2 and ($3::text is null or e.namespace = $3)
  for key share of e
)
select f.execution_id, f.waitpoint_key, f.created_at_ms, f.token_kid, f.state, f.now_ms, k.*
from found f${keyByKid('f.namespace', 'f.token_kid')}`,
})

type FoundToken = RowOf<typeof readStatement.row>

/** Null for a waitpoint that does not exist, or belongs to another namespace. */
export async function readToken(
  sql: Sql,
  keys: SigningKeys,
  caller: Caller,
  id: string,
): Promise<WaitpointToken | null> {
  const { partition, uuid } = parseWaitpointId(id)
  const waitpointId = formatWaitpointId(partition, uuid)
  const read = call(readStatement, { waitpoint_id: uuid, partition_key: partition, namespace: caller.namespace })
  let token: WaitpointToken | null = null
  const decide = ([[found]]: RowsOf<readonly [typeof read]>) => {
    token = found === undefined ? null : tokenOf(keys, partition, waitpointId, found)
    return found === undefined ? [] : [tokenEventCall(caller, found, { waitpointId })]
  }
  await untilSent(sql, { again: false }, () => sql.decide([read], decide))
  return token
}

function tokenOf(keys: SigningKeys, partition: number, waitpointId: WaitpointId, found: FoundToken): WaitpointToken {
  const { waitpoint_key: waitpointKey, token_kid: kid } = found
  if (found.state === 'closed') {
    const sentence = `waitpoint ${waitpointId} is closed; its token is no longer valid`
    throw new EngineError('waitpoint_closed', sentence, { waitpointId })
  }
  const key = isStored(found) ? keys.open(found) : null
  if (key === null || !isLive(key, found.now_ms)) {
    const sentence = `the token of waitpoint ${waitpointId} was signed by key ${kid}, whose grace period has ended; suspend with a new waitpoint`
    throw new EngineError('signing_key_not_found', sentence, { waitpointId, kid })
  }
  const executionId = formatExecutionId(partition, found.execution_id)
  const subject = { executionId, waitpointId, waitpointKey, createdAt: found.created_at_ms }
  return { waitpointId, waitpointKey, token: mintToken(key, subject) }
}
