// Creates a waitpoint before its suspension. Its token can be handed out while the code still runs. Signals that arrive
// meanwhile are stored for the suspension that uses it.
import { attached } from '../../../model/attached.ts'
import { EngineError } from '../../../model/errors.ts'
import { duration } from '../../../model/field-kinds.ts'
import type { RequestOf } from '../../../model/field.ts'
import type { ExecutionId, WaitpointId } from '../../../model/id.ts'
import { limits } from '../../../model/limits.ts'
import { waitpointKey } from '../../../model/named-fields.ts'
import { mintUuid } from '../../../model/uuid.ts'
import { call, type Sql } from '../../../sql/sql.ts'
import { statement, type RowOf } from '../../../sql/statement.ts'
import { fencedSet } from '../../transition/fenced-operation.ts'
import type { MoreToClose } from '../../transition/more-to-close.ts'
import { fenced } from '../../transition/fence.ts'
import { fencedRequest } from '../../transition/fenced-request.ts'
import type { ItemOf } from '../../kernel/set-request.ts'
import { fencedAnswer, fencedRow } from '../../transition/fenced-answer.ts'
import { asOwnAnswer } from '../../kernel/failure.ts'
import { rowLocked, type Outcome, type Sent, type SetOperation } from '../../kernel/merge.ts'
import type { SigningKeys } from '../../signing-key/keys.ts'
import { isStored, keyNameSql, signingKeyOf, storedKeyRow } from '../../signing-key/stored-key.ts'
import type { OpenedWaitpoints } from './opened.ts'
import { withToken } from './tokens.ts'

export const createWaitpointRequest = fencedRequest(
  'waitpoints.create',
  {
    /** Conditions name it by this key. A suspension uses it by its `waitpointId`; with the key alone it creates another. */
    key: waitpointKey.inColumn('waitpoint_key'),
    /** It closes when no suspension has used it by then; left out: it stays as long as the execution lives. */
    expiresIn: duration().optional(),
  },
  { waitpointUuid: { column: 'uuid', columnName: 'waitpoint_id', from: mintUuid } },
)

export interface CreateWaitpointRequest extends RequestOf<typeof createWaitpointRequest.fields> {}

type NewWaitpoint = ItemOf<typeof createWaitpointRequest>

export interface WaitpointCreated {
  readonly kind: 'waitpoint_created'
  readonly executionId: ExecutionId
  readonly waitpointId: WaitpointId
  readonly key: string
  readonly token: string
  readonly expiresAt: number | null
}

const own = [
  'owner_namespace',
  'made_at_ms',
  'expires_at_ms',
  'kid',
  'is_made',
  'has_room',
  'key_scope',
  'key_kid',
  'key_expires_at_ms',
  'key_is_wrapped',
  'key_secret',
] as const satisfies readonly (keyof CreateRow)[]
const createRow = {
  ...fencedRow,
  owner_namespace: 'text?',
  made_at_ms: 'int8?',
  expires_at_ms: 'int8?',
  kid: 'text?',
  is_made: 'bool?',
  has_room: 'bool?',
  /** The key that signs now. */
  ...storedKeyRow,
} as const
type CreateRow = RowOf<typeof createRow>

// An id that exists was written by the same call, whose reply was lost. A waitpoint is created only with a signing key
// that this process has opened: it could not compute the token with another key.
const createStatement = statement({
  name: 'waitpoint.create',
  params: { ...createWaitpointRequest.params, opened_keys: 'text[]' },
  row: createRow,
  text: `
${createWaitpointRequest.input},
${fenced(...createWaitpointRequest.columns)},
found as materialized (
  select v.*, e.partition_key, e.namespace as owner_namespace, p.waitpoint_id is not null as is_there,
    coalesce(p.created_at_ms, v.now_ms) as made_at_ms,
    case when p.waitpoint_id is null then v.now_ms + v.expires_in_ms else p.expires_at_ms end as expires_at_ms,
    coalesce(p.token_kid, signing.key_kid) as kid, signing.*,
    coalesce(${keyNameSql('signing')} = any ($10::text[]), false) as is_opened,
    case when v.attached & ${attached.waitpoints} = 0 then 0 else (
      select count(*)
      from flowfabric.ff_waitpoint_pending o
      where o.execution_id = any (array[v.execution_id]) and o.suspension_id is null and o.state = 'pending'
    ) end + row_number() over (partition by v.execution_id order by v.ordinal) <= ${limits.pendingWaitpointCount} as has_room
  from checked v
  join flowfabric.ff_exec_core e on e.execution_id = any (array[v.execution_id])
  left join flowfabric.ff_waitpoint_pending p on p.waitpoint_id = any (array[v.waitpoint_id])${signingKeyOf('e.namespace')}
),
made as materialized (
  select *, is_held and (is_there or is_opened and has_room) as is_made
  from found
),
-- The row is written each time, so that no ending and no restart decides by a snapshot from before the waitpoint.
attached as (
  update flowfabric.ff_exec_core e
  set attached = e.attached | ${attached.waitpoints}
  from made m
  where e.execution_id = any (array[m.execution_id]) and m.is_made and not m.is_there
),
inserted as (
  insert into flowfabric.ff_waitpoint_pending (waitpoint_id, execution_id, created_at_ms, expires_at_ms, partition_key,
    state, is_made_ahead, waitpoint_key, token_kid)
  select waitpoint_id, execution_id, made_at_ms, expires_at_ms, partition_key, 'pending', true, waitpoint_key, kid
  from made
  where is_made and not is_there
)
${fencedAnswer('made', ...own)}`,
})

interface Made extends CreateRow {
  readonly item: NewWaitpoint
}

export function createWaitpointOperation(
  sql: Sql,
  keys: SigningKeys,
  opened: OpenedWaitpoints,
  more: MoreToClose,
): SetOperation<NewWaitpoint, WaitpointCreated> {
  const set = fencedSet<NewWaitpoint, CreateRow, Made>(sql, {
    callOf: (items) =>
      call(createStatement, { ...createWaitpointRequest.values(items), opened_keys: keys.openedNames() }),
    writesEvents: false,
    answer(item, row) {
      more.add(item.uuid)
      return { ...row, item }
    },
    // A created waitpoint stays, but a worker that lost the lease cannot use it.
    repeat: () => null,
  })
  const signedAll = async ({ outcomes, effects }: Sent<Made>): Promise<Sent<WaitpointCreated>> => ({
    outcomes: await Promise.all(outcomes.map((outcome) => signed(keys, opened, outcome).catch(asOwnAnswer))),
    effects,
  })
  return {
    keyOf: (item) => item.waitpointUuid,
    // The count of waitpoints is read in the snapshot of the set.
    rowOf: (item) => item.uuid,
    async send(items, again, isHalf) {
      await keys.ready()
      return signedAll(await set.send(items, again, isHalf))
    },
    async sendAlone(item, again, lockTimeoutMs) {
      await keys.ready()
      return signedAll(await set.sendAlone(item, again, lockTimeoutMs))
    },
  }
}

async function signed(
  keys: SigningKeys,
  opened: OpenedWaitpoints,
  outcome: Outcome<Made>,
): Promise<Outcome<WaitpointCreated>> {
  if (outcome === rowLocked || EngineError.is(outcome)) return outcome
  const { item } = outcome
  if (outcome.has_room === false && outcome.is_made === false) return tooMany(item)
  if (outcome.is_made === false) {
    if (isStored(outcome)) keys.open(outcome)
    // The key is open now, so the item is sent again.
    return rowLocked
  }
  const unsigned = { uuid: item.waitpointUuid, key: item.key, kid: outcome.kid!, createdAt: outcome.made_at_ms! }
  await keys.openAll(outcome.owner_namespace!, [unsigned.kid])
  const { waitpointId, key, token } = withToken(keys, outcome.owner_namespace!, item, unsigned)
  const { executionId, uuid: executionUuid } = item
  const { key_scope: keyScope, key_kid: activeKid } = outcome
  // After a lost reply, the waitpoint may have been signed by another key than the one that signs now.
  if (keyScope !== null && activeKid === unsigned.kid) opened.rememberMade({ ...unsigned, executionUuid, keyScope })
  return { kind: 'waitpoint_created', executionId, waitpointId, key, token: token!, expiresAt: outcome.expires_at_ms }
}

function tooMany({ executionId }: NewWaitpoint): EngineError {
  const limit = limits.pendingWaitpointCount
  const sentence = `execution ${executionId} already has ${limit} unused waitpoints, the maximum; use one, or let some expire`
  return new EngineError('waitpoint_limit_exceeded', sentence, { executionId, limit })
}
