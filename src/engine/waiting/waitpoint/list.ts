// The open waitpoints of an execution, in the order of their ids. A token is shown by its fingerprint only.
import { EngineError } from '../../../model/errors.ts'
import { formatExecutionId, type ExecutionId, type WaitpointId } from '../../../model/id.ts'
import { checkFields } from '../../../model/field.ts'
import type { WaitpointState } from '../../../model/suspension.ts'
import { tokenFingerprint } from '../../../model/token.ts'
import { call, type Sql } from '../../../sql/sql.ts'
import { oneOf, statement, type RowOf } from '../../../sql/statement.ts'
import type { Caller } from '../../kernel/caller.ts'
import { readNamespace } from '../../kernel/read-namespace.ts'
import { ascending, checkPage, cutPage, orderBy, pageFields, pageLimit } from '../../kernel/page.ts'
import { visibleExecution } from '../../kernel/visible.ts'
import { countAtWaitpoint } from '../earlier-signals.ts'
import type { SigningKeys } from '../../signing-key/keys.ts'
import { withToken } from './tokens.ts'

export interface ListWaitpointsRequest {
  /** 1 to 1,000; 100 by default. */
  readonly limit?: number
  readonly cursor?: string
}

export interface Waitpoint {
  readonly waitpointId: WaitpointId
  readonly executionId: ExecutionId
  readonly key: string
  readonly state: WaitpointState
  /** The names of the signals that its suspension waits for; none means any. */
  readonly requiredSignalNames: readonly string[]
  readonly signalCount: number
  readonly createdAt: number
  readonly activatedAt: number | null
  readonly expiresAt: number | null
  readonly tokenKid: string
  /** 16 hex digits that distinguish tokens; null when the key that signed it has been removed. */
  readonly tokenFingerprint: string | null
}

export interface WaitpointPage {
  readonly waitpoints: readonly Waitpoint[]
  readonly nextCursor: string | null
}

const listStatement = statement({
  name: 'waitpoint.list',
  params: { execution_id: 'uuid', waitpoint_id: 'uuid', limit: 'int8' },
  row: {
    waitpoint_id: 'uuid',
    waitpoint_key: 'text',
    state: oneOf<WaitpointState>(),
    required_signal_names: 'text[]',
    signal_count: 'int4',
    created_at_ms: 'int8',
    activated_at_ms: 'int8?',
    expires_at_ms: 'int8?',
    token_kid: 'text',
  },
  text: `
with listed as materialized (
  select *
  from (
    select p.*
    from flowfabric.ff_waitpoint_pending p
    where p.execution_id = $1 and p.suspension_id is null and p.state = 'pending'
    union all
    select p.*
    from flowfabric.ff_suspension_current s
    cross join lateral (
      select p.*
      from flowfabric.ff_waitpoint_pending p
      where p.execution_id = s.execution_id and p.suspension_id = s.suspension_id and p.state = 'active'
      offset 0
    ) p
    where s.execution_id = $1
    offset 0
  ) p
  where p.waitpoint_id > $2
  order by p.waitpoint_id
  limit $3
)
select p.waitpoint_id, p.waitpoint_key, p.state, p.required_signal_names, ${countAtWaitpoint('p')}::int4 as signal_count,
  p.created_at_ms, p.activated_at_ms, p.expires_at_ms, p.token_kid
from listed p
order by p.waitpoint_id`,
})

const order = orderBy('waitpoints', { waitpoint_id: ascending.uuid })
const defaultLimit = 100

export async function listWaitpoints(
  sql: Sql,
  keys: SigningKeys,
  caller: Caller,
  executionId: string,
  request: ListWaitpointsRequest,
): Promise<WaitpointPage> {
  checkFields('waitpoints.list', pageFields, request)
  const execution = visibleExecution(caller, executionId)
  const { execution_id, partition_key: partition } = execution
  const { limit, after } = checkPage(request, order, (given = defaultLimit) => Math.max(1, pageLimit(given)))
  const [[owner], read] = await sql.pipeline([
    call(readNamespace, execution),
    call(listStatement, { execution_id, ...after, limit: limit + 1 }),
  ])
  if (owner === undefined) {
    throw new EngineError('execution_not_found', `execution ${executionId} does not exist`, { executionId })
  }
  const { rows, nextCursor } = cutPage(order, limit, read)
  await keys.openAll(
    owner.namespace,
    rows.map((row) => row.token_kid),
  )
  const target = { executionId: formatExecutionId(partition, execution_id), partition }
  return { waitpoints: rows.map((row) => decodeWaitpoint(keys, owner.namespace, target, row)), nextCursor }
}

function decodeWaitpoint(
  keys: SigningKeys,
  namespace: string,
  target: { readonly executionId: ExecutionId; readonly partition: number },
  row: RowOf<typeof listStatement.row>,
): Waitpoint {
  const unsigned = {
    uuid: row.waitpoint_id,
    key: row.waitpoint_key,
    kid: row.token_kid,
    createdAt: row.created_at_ms,
  }
  const { waitpointId, key, token } = withToken(keys, namespace, target, unsigned)
  return {
    waitpointId,
    executionId: target.executionId,
    key,
    state: row.state,
    requiredSignalNames: row.required_signal_names,
    signalCount: row.signal_count,
    createdAt: row.created_at_ms,
    activatedAt: row.activated_at_ms,
    expiresAt: row.expires_at_ms,
    tokenKid: row.token_kid,
    tokenFingerprint: token === null ? null : tokenFingerprint(token),
  }
}
