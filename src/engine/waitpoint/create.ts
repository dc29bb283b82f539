// A waitpoint that is created ahead of its suspension: its token can be handed out while the work goes on, and what is sent
// to it meanwhile is kept for the suspension that takes it.
import { attached } from '../../model/attached.ts'
import { parseDuration, type Duration } from '../../model/duration.ts'
import { EngineError } from '../../model/errors.ts'
import type { ExecutionId, WaitpointId } from '../../model/id.ts'
import { refuseUnknownFields } from '../../model/shape.ts'
import { checkWaitpointKey } from '../../model/signal.ts'
import { mintUuid } from '../../model/uuid.ts'
import { call, type Sql } from '../../sql/sql.ts'
import { statement, type RowOf } from '../../sql/statement.ts'
import type { Caller } from '../caller.ts'
import { fencedSet } from '../execution/fenced-operation.ts'
import {
  checkFence,
  fenced,
  fencedAnswer,
  fencedRow,
  fenceInput,
  fenceParams,
  fenceValues,
  type Fence,
  type Held,
} from '../fence.ts'
import { asOwnAnswer } from '../failure.ts'
import { held, type Outcome, type SetOperation } from '../merge.ts'
import { activeKid } from '../signing-key/active-kid.ts'
import type { SigningKeys } from '../signing-key/keys.ts'
import { withToken } from './tokens.ts'

export interface CreateWaitpointRequest extends Fence {
  readonly key: string
  /** It closes when no suspension has taken it by then; left out: it stays as long as the execution lives. */
  readonly expiresIn?: Duration
}

export interface WaitpointCreated {
  readonly kind: 'waitpoint_created'
  readonly executionId: ExecutionId
  readonly waitpointId: WaitpointId
  readonly key: string
  readonly token: string
  readonly expiresAt: number | null
}

/** A checked request, as the statement takes it. */
export interface NewWaitpoint extends Held {
  readonly waitpointUuid: string
  readonly key: string
  readonly expiresInMs: number | null
}

export function checkCreateWaitpointRequest(caller: Caller, request: CreateWaitpointRequest): NewWaitpoint {
  refuseUnknownFields('waitpoints.create', request, ['executionId', 'leaseId', 'leaseEpoch', 'key', 'expiresIn'])
  const { key, expiresIn } = request
  return {
    ...checkFence(caller, request),
    waitpointUuid: mintUuid(),
    key: checkWaitpointKey('key', key),
    expiresInMs: expiresIn === undefined ? null : parseDuration('expiresIn', expiresIn),
  }
}

const own = { owner_namespace: 'text', made_at_ms: 'int8', expires_at_ms: 'int8', kid: 'text' } as const
const createRow = {
  ...fencedRow,
  owner_namespace: 'text?',
  made_at_ms: 'int8?',
  expires_at_ms: 'int8?',
  kid: 'text?',
} as const
type CreateRow = RowOf<typeof createRow>

// An id that is there was written by this very call, whose reply was lost.
const createStatement = statement({
  name: 'waitpoint.create',
  params: { ...fenceParams, waitpoint_ids: 'uuid[]', keys: 'text[]', expires_ins_ms: 'int8?[]' },
  row: createRow,
  text: `
with input as materialized (
  select *
  from unnest($1::uuid[], $2::int2[], $3::text[], $4::uuid[], $5::int8[], $6::text[], $7::uuid[], $8::text[], $9::int8[])
    with ordinality as i (${fenceInput}, waitpoint_id, waitpoint_key, expires_in_ms, ordinal)
),
${fenced('waitpoint_id', 'waitpoint_key', 'expires_in_ms')},
made as materialized (
  select v.*, e.namespace as owner_namespace, p.waitpoint_id is not null as is_there,
    coalesce(p.created_at_ms, v.now_ms) as made_at_ms,
    case when p.waitpoint_id is null then v.now_ms + v.expires_in_ms else p.expires_at_ms end as expires_at_ms,
    coalesce(p.token_kid, ${activeKid('e.namespace')}) as kid
  from verdict v
  join flowfabric.ff_exec_core e on e.execution_id = any (array[v.execution_id])
  left join flowfabric.ff_waitpoint_pending p on p.waitpoint_id = any (array[v.waitpoint_id])
),
attached as (
  update flowfabric.ff_exec_core e
  set attached = e.attached | ${attached.waitpoints}
  from made m
  where e.execution_id = any (array[m.execution_id]) and m.is_held and m.attached & ${attached.waitpoints} = 0
),
inserted as (
  insert into flowfabric.ff_waitpoint_pending (waitpoint_id, execution_id, created_at_ms, expires_at_ms, partition_key,
    state, waitpoint_key, token_kid)
  select waitpoint_id, execution_id, made_at_ms, expires_at_ms, partition_key, 'pending', waitpoint_key, kid
  from made
  where is_held and not is_there
)
${fencedAnswer('made', own)}`,
})

interface Made extends CreateRow {
  readonly item: NewWaitpoint
}

export function createWaitpointOperation(sql: Sql, keys: SigningKeys): SetOperation<NewWaitpoint, WaitpointCreated> {
  const set = fencedSet<NewWaitpoint, CreateRow, Made>(sql, {
    callOf: (items) =>
      call(createStatement, {
        ...fenceValues(items),
        waitpoint_ids: items.map((item) => item.waitpointUuid),
        keys: items.map((item) => item.key),
        expires_ins_ms: items.map((item) => item.expiresInMs),
      }),
    answer: (item, row) => ({ ...row, item }),
    // One that was created stays, but who has lost the lease has no use for it.
    repeat: () => null,
  })
  return {
    keyOf: (item) => item.waitpointUuid,
    async send(items, again, isHalf) {
      await keys.ready()
      return Promise.all(
        (await set.send(items, again, isHalf)).map((outcome) => signed(keys, outcome).catch(asOwnAnswer)),
      )
    },
    async sendAlone(item, again, lockTimeoutMs) {
      await keys.ready()
      return signed(keys, await set.sendAlone(item, again, lockTimeoutMs)).catch(asOwnAnswer)
    },
  }
}

async function signed(keys: SigningKeys, outcome: Outcome<Made>): Promise<Outcome<WaitpointCreated>> {
  if (outcome === held || EngineError.is(outcome)) return outcome
  const { item } = outcome
  const unsigned = { uuid: item.waitpointUuid, key: item.key, kid: outcome.kid!, createdAt: outcome.made_at_ms! }
  const { waitpointId, key, token } = await withToken(keys, outcome.owner_namespace!, item, unsigned)
  const { executionId } = item
  return { kind: 'waitpoint_created', executionId, waitpointId, key, token: token!, expiresAt: outcome.expires_at_ms }
}
