// Most conditions can be met only by what is yet to come: all their signals come through fresh waitpoints. Then there is
// nothing to judge, and the database suspends by itself, in one statement and one round trip.
//
// It writes only where everything is plain: held by this lease, not asked to stop, no repeat, and signed by a key that this
// process has opened. All else is passed over and judged in the other way. It waits for nobody, and so may lock in any order.
// The lease is read as the statement's snapshot has it, as every fenced write does (`fence.ts`).
import { requiredSignalNames } from '../../model/condition-waits.ts'
import { nodesOf } from '../../model/condition.ts'
import { call, type Sql } from '../../sql/sql.ts'
import { statement, type RowOf } from '../../sql/statement.ts'
import { clockAfter } from '../clock/after-lock.ts'
import { fenceInput, fenceParams, fenceValues, isHeldSql } from '../fence.ts'
import type { SigningKeys } from '../signing-key/keys.ts'
import { keyNameSql, signingKeyOf } from '../signing-key/stored-key.ts'
import type { UnsignedWaitpoint } from '../waitpoint/tokens.ts'
import { asksForFacts } from './look.ts'
import { parkHeld } from './park.ts'
import { inPlaceOfTheLast } from './record.ts'
import type { NewSuspension } from './request.ts'

const suspendStatement = statement({
  name: 'suspension.park-unmet',
  params: {
    ...fenceParams,
    suspension_ids: 'uuid[]',
    reasons: 'text[]',
    timeouts_ms: 'int8?[]',
    timeout_ats_ms: 'int8?[]',
    timeout_behaviours: 'text[]',
    second_timeouts_ms: 'int8?[]',
    second_behaviours: 'text?[]',
    resume_delays_ms: 'int8?[]',
    idempotency_keys: 'text?[]',
    conditions: 'jsonb[]',
    doors: 'jsonb[]',
    opened_keys: 'text[]',
  },
  row: {
    ordinal: 'int8',
    namespace: 'text',
    parked_at_ms: 'int8',
    timeout_at_ms: 'int8?',
    key_scope: 'text?',
    kid: 'text?',
  },
  text: `
with target as materialized (
  select e.execution_id, e.partition_key, e.namespace, e.lifecycle_phase, e.lease_id, e.lease_epoch, e.generation,
    e.attempt_index, e.cancel_requested_at_ms, i.ordinal, i.given_lease_id, i.given_epoch, i.actor, i.suspension_id,
    i.reason, i.timeout_ms, i.given_timeout_at_ms, i.timeout_behaviour, i.second_timeout_ms, i.second_behaviour,
    i.resume_delay_ms, i.idempotency_key, i.condition, i.doors
  from unnest($1::uuid[], $2::int2[], $3::text[], $4::uuid[], $5::int8[], $6::text[], $7::uuid[], $8::text[], $9::int8[],
    $10::int8[], $11::text[], $12::int8[], $13::text[], $14::int8[], $15::text[], $16::jsonb[], $17::jsonb[])
    with ordinality as i (${fenceInput}, suspension_id, reason, timeout_ms, given_timeout_at_ms, timeout_behaviour,
      second_timeout_ms, second_behaviour, resume_delay_ms, idempotency_key, condition, doors, ordinal)
  join flowfabric.ff_exec_core e
    on e.execution_id = any (array[i.execution_id])
    and e.partition_key = i.partition_key
    and (i.namespace is null or e.namespace = i.namespace)
  for no key update of e skip locked
),
${clockAfter('target')},
parking as materialized (
  select t.*, k.now_ms as parked_at_ms, coalesce(t.given_timeout_at_ms, k.now_ms + t.timeout_ms) as timeout_at_ms,
    signing.key_scope, signing.key_kid as kid, false as keeps_waitpoints
  from target t
  cross join clock k
  join flowfabric.ff_lease l on l.execution_id = any (array[t.execution_id])
  left join flowfabric.ff_suspension_current s on s.execution_id = any (array[t.execution_id])${signingKeyOf('t.namespace')}
  where ${isHeldSql('t', 't')}
    and t.cancel_requested_at_ms is null
    and coalesce(t.given_timeout_at_ms > k.now_ms, true)
    and not coalesce(s.idempotency_key = t.idempotency_key and s.lease_id = t.given_lease_id, false)
    and (t.doors = '[]' or ${keyNameSql('signing')} = any ($18::text[]))
),
${parkHeld},
recorded as (
  insert into flowfabric.ff_suspension_current (execution_id, suspension_id, suspended_at_ms, timeout_at_ms,
    second_timeout_ms, resume_delay_ms, lease_epoch, lease_id, generation, attempt_index, partition_key, reason_code,
    timeout_behavior, second_behavior, requested_by, idempotency_key, condition)
  select execution_id, suspension_id, parked_at_ms, timeout_at_ms, second_timeout_ms, resume_delay_ms, lease_epoch, lease_id,
    generation, attempt_index, partition_key, reason::flowfabric.ff_suspension_reason,
    timeout_behaviour::flowfabric.ff_timeout_behavior, second_behaviour::flowfabric.ff_timeout_behavior, actor,
    idempotency_key, condition
  from parking
  ${inPlaceOfTheLast}
),
opened as (
  insert into flowfabric.ff_waitpoint_pending (waitpoint_id, execution_id, suspension_id, created_at_ms, activated_at_ms,
    partition_key, state, waitpoint_key, token_kid, required_signal_names)
  select d.id, p.execution_id, p.suspension_id, p.parked_at_ms, p.parked_at_ms, p.partition_key, 'active', d.key, p.kid,
    d.names
  from parking p
  cross join lateral jsonb_to_recordset(p.doors) as d (id uuid, key text, names text[])
)
select ordinal, namespace, parked_at_ms, timeout_at_ms, key_scope, kid
from parking`,
})

/** Nothing that came before can meet the condition, and no waitpoint from before is taken up again. */
export function isUnmet(item: NewSuspension): boolean {
  if (item.keepsWaitpoints || asksForFacts(item)) return false
  return !nodesOf(item.condition).some(([, node]) => node.kind === 'time')
}

export interface ParkedUnmet {
  readonly kind: 'parked'
  readonly item: NewSuspension
  readonly row: RowOf<typeof suspendStatement.row>
  readonly doors: readonly UnsignedWaitpoint[]
}

/** Those that it has suspended. */
export async function parkUnmet(
  sql: Sql,
  keys: SigningKeys,
  items: readonly NewSuspension[],
): Promise<ReadonlyMap<NewSuspension, ParkedUnmet>> {
  if (items.length === 0) return new Map()
  const [rows] = await sql.pipeline([call(suspendStatement, { ...valuesOf(items), opened_keys: keys.openedNames() })])
  return new Map(
    rows.map((row) => {
      const item = items[row.ordinal - 1]!
      const doors = item.bindings.map(({ uuid, key }) => {
        return { uuid, key: key!, kid: row.kid!, createdAt: row.parked_at_ms }
      })
      return [item, { kind: 'parked', item, row, doors }]
    }),
  )
}

function valuesOf(items: readonly NewSuspension[]) {
  return {
    ...fenceValues(items),
    suspension_ids: items.map((item) => item.suspensionId),
    reasons: items.map((item) => item.reason),
    timeouts_ms: items.map((item) => item.timeoutMs),
    timeout_ats_ms: items.map((item) => item.timeoutAt),
    timeout_behaviours: items.map((item) => item.timeoutBehaviour),
    second_timeouts_ms: items.map((item) => item.secondTimeoutMs),
    second_behaviours: items.map((item) => item.secondBehaviour),
    resume_delays_ms: items.map((item) => item.resumeDelayMs),
    idempotency_keys: items.map((item) => item.idempotencyKey),
    conditions: items.map((item) => item.condition),
    doors: items.map(({ bindings, condition }) =>
      bindings.map(({ uuid, key }) => ({
        id: uuid,
        key,
        names: requiredSignalNames(condition, key!),
      })),
    ),
  }
}
