// Most conditions can be satisfied only by future events. Then there is nothing to evaluate, and the database suspends alone,
// in one round trip: one statement records the suspension, and the next (`park.ts`) takes the execution from its holder.
//
// The first records a suspension only in the simple case:
// - the lease is valid, and no cancel was requested
// - no earlier call had this idempotency key
// - no point in time of the condition has come
// - fresh waitpoints are signed by a key that this process has opened
// - waitpoints that were created in advance are pending, and have no stored signal
// - no signal by one of the condition's names is stored
// - no earlier suspension has kept a waitpoint with one of these keys; kept waitpoints with other keys close
// It skips all others, which are decided in two round trips (`evaluate.ts`).
//
// It also skips an execution that was changed since the statement began, which it detects by `xmin`: a stored signal and
// a created waitpoint write the execution too. The lease is read in the statement's snapshot, as in every fenced write
// (`fence.ts`). It waits for no lock, so it may lock in any order.
import { attached } from '../../../model/attached.ts'
import { evaluate } from '../../../model/condition-evaluate.ts'
import { childrenOf, namesTakenBy, requiredSignalNames } from '../../../model/condition-waits.ts'
import { EngineError } from '../../../model/errors.ts'
import { call, type Sql } from '../../../sql/sql.ts'
import { statement, type RowOf } from '../../../sql/statement.ts'
import { clockAfter } from '../../kernel/after-lock.ts'
import { fenceInput, fenceParams, fenceValues, isHeldSql } from '../../transition/fence.ts'
import { waitingAt, waitingByName } from '../../transition/untaken-signals.ts'
import type { SigningKeys } from '../../signing-key/keys.ts'
import { keyNameSql, signingKeyOf } from '../../signing-key/stored-key.ts'
import type { MadeWaitpoint, OpenedWaitpoints } from '../waitpoint/opened.ts'
import type { UnsignedWaitpoint } from '../waitpoint/tokens.ts'
import { parkCall } from '../../transition/park.ts'
import { inPlaceOfTheLast } from './record.ts'
import { checkKeys, type NewSuspension } from './request.ts'

/** For `target t`, at `clock k`: how many of its named earlier waitpoints can be used, without a stored signal. */
const usableAhead = `(
      select count(*)
      from jsonb_to_recordset(t.waitpoints) as d (id uuid, key text, is_ahead bool)
      cross join lateral (
        select p.waitpoint_id, p.execution_id, p.waitpoint_key, p.expires_at_ms
        from flowfabric.ff_waitpoint_pending p
        where p.waitpoint_id = d.id and p.state = 'pending' and p.is_made_ahead
        offset 0
      ) p
      where d.is_ahead and p.execution_id = t.execution_id and p.waitpoint_key = d.key
        and (p.expires_at_ms is null or p.expires_at_ms > k.now_ms) and not exists (${waitingAt('p')}))`

/** For a lateral join: the waitpoints of an execution that an earlier suspension created and kept. */
const keptOf = (execution: string): string => `
      select p.waitpoint_id, p.waitpoint_key
      from flowfabric.ff_waitpoint_pending p
      where p.execution_id = ${execution}.execution_id and p.suspension_id is null and p.state = 'pending'
        and not p.is_made_ahead
      offset 0`

const recordStatement = statement({
  name: 'suspension.record-directly',
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
    waitpoints: 'jsonb[]',
    fresh_counts: 'int4[]',
    ahead_counts: 'int4[]',
    names: 'jsonb[]',
    wake_ats_ms: 'int8?[]',
    keep_waitpoints: 'bool[]',
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
    e.attempt_index, e.attached, e.cancel_requested_at_ms, i.ordinal, i.given_lease_id, i.given_epoch, i.actor, i.suspension_id,
    i.reason, i.timeout_ms, i.given_timeout_at_ms, i.timeout_behaviour, i.second_timeout_ms, i.second_behaviour,
    i.resume_delay_ms, i.idempotency_key, i.condition, i.waitpoints, i.fresh_count, i.ahead_count, i.names, i.wake_at_ms,
    i.keeps_waitpoints
  from unnest($1::uuid[], $2::int2[], $3::text[], $4::uuid[], $5::int8[], $6::text[], $7::uuid[], $8::text[], $9::int8[],
    $10::int8[], $11::text[], $12::int8[], $13::text[], $14::int8[], $15::text[], $16::jsonb[], $17::jsonb[], $18::int4[],
    $19::int4[], $20::jsonb[], $21::int8[], $22::bool[])
    with ordinality as i (${fenceInput}, suspension_id, reason, timeout_ms, given_timeout_at_ms, timeout_behaviour,
      second_timeout_ms, second_behaviour, resume_delay_ms, idempotency_key, condition, waitpoints, fresh_count, ahead_count, names,
      wake_at_ms, keeps_waitpoints, ordinal)
  join flowfabric.ff_exec_core seen on seen.execution_id = any (array[i.execution_id])
  join flowfabric.ff_exec_core e
    on e.ctid = seen.ctid and e.xmin = seen.xmin
    and e.partition_key = i.partition_key
    and (i.namespace is null or e.namespace = i.namespace)
  for no key update of e skip locked
),
${clockAfter('target')},
parking as materialized (
  select t.*, k.now_ms as parked_at_ms, coalesce(t.given_timeout_at_ms, k.now_ms + t.timeout_ms) as timeout_at_ms,
    signing.key_scope, signing.key_kid as kid
  from target t
  cross join clock k
  join flowfabric.ff_lease l on l.execution_id = any (array[t.execution_id])
  left join flowfabric.ff_suspension_current s on s.execution_id = any (array[t.execution_id])${signingKeyOf('t.namespace')}
  where ${isHeldSql('t', 't')}
    and t.cancel_requested_at_ms is null
    and coalesce(t.given_timeout_at_ms > k.now_ms, true)
    and coalesce(t.wake_at_ms > k.now_ms, true)
    and not coalesce(s.idempotency_key = t.idempotency_key and s.lease_id = t.given_lease_id, false)
    and (t.fresh_count = 0 or ${keyNameSql('signing')} = any ($23::text[]))
    and case when t.ahead_count = 0 then true else t.ahead_count = ${usableAhead} end
    and case when t.attached & ${attached.signals} = 0 then true else not exists (
      select
      from (${waitingByName('t')}
      ) g
      where g.suspension_id is null and t.names ? g.signal_name) end
    and case when t.attached & ${attached.waitpoints} = 0 or not t.keeps_waitpoints then true else not exists (
      select
      from (${keptOf('t')}
      ) p
      where t.waitpoints @> jsonb_build_array(jsonb_build_object('key', p.waitpoint_key))) end
),
waitpoint as materialized (
  select p.execution_id, p.suspension_id, p.parked_at_ms, p.partition_key, p.kid, d.*
  from parking p
  cross join lateral jsonb_to_recordset(p.waitpoints) as d (id uuid, key text, names text[], is_ahead bool)
),
recorded as (
  insert into flowfabric.ff_suspension_current (execution_id, suspension_id, suspended_at_ms, timeout_at_ms, wake_at_ms,
    second_timeout_ms, resume_delay_ms, lease_epoch, lease_id, generation, attempt_index, partition_key, reason_code,
    timeout_behavior, second_behavior, keeps_waitpoints, requested_by, idempotency_key, condition)
  select execution_id, suspension_id, parked_at_ms, timeout_at_ms, wake_at_ms, second_timeout_ms, resume_delay_ms, lease_epoch,
    lease_id, generation, attempt_index, partition_key, reason::flowfabric.ff_suspension_reason,
    timeout_behaviour::flowfabric.ff_timeout_behavior, second_behaviour::flowfabric.ff_timeout_behavior, keeps_waitpoints, actor,
    idempotency_key, condition
  from parking
  ${inPlaceOfTheLast}
),
closed as (
  update flowfabric.ff_waitpoint_pending p
  set state = 'closed', closed_at_ms = k.parked_at_ms, close_reason = 'proactive_close', expires_at_ms = null
  from (
    select p.waitpoint_id, i.parked_at_ms
    from parking i
    cross join lateral (${keptOf('i')}
    ) p
    where i.keeps_waitpoints and i.attached & ${attached.waitpoints} <> 0
  ) k
  where p.waitpoint_id = any (array[k.waitpoint_id])
),
activated as (
  update flowfabric.ff_waitpoint_pending p
  set state = 'active', suspension_id = d.suspension_id, activated_at_ms = d.parked_at_ms, expires_at_ms = null,
    required_signal_names = d.names
  from waitpoint d
  where d.is_ahead and p.waitpoint_id = any (array[d.id])
),
opened as (
  insert into flowfabric.ff_waitpoint_pending (waitpoint_id, execution_id, suspension_id, created_at_ms, activated_at_ms,
    partition_key, state, waitpoint_key, token_kid, required_signal_names)
  select id, execution_id, suspension_id, parked_at_ms, parked_at_ms, partition_key, 'active', key, kid, names
  from waitpoint
  where not is_ahead
)
select ordinal, namespace, parked_at_ms, timeout_at_ms, key_scope, kid
from parking`,
})

/** A suspension that no earlier fact can satisfy, as far as this is known without the database. */
export interface DirectSuspension {
  readonly item: NewSuspension
  readonly waitpoints: readonly { readonly uuid: string; readonly key: string; readonly made: MadeWaitpoint | null }[]
  /** When time alone satisfies it. */
  readonly wakeAt: number | null
}

/** Null if rows must be read: it waits for a child, or uses a waitpoint of another process. */
export function directSuspensionOf(item: NewSuspension, opened: OpenedWaitpoints): DirectSuspension | null {
  const { condition, bindings } = item
  if (childrenOf(condition).length > 0) return null
  const waitpoints: DirectSuspension['waitpoints'][number][] = []
  for (const { uuid, key } of bindings) {
    const made = key === null ? opened.made(uuid) : null
    if (made === undefined || (made !== null && made.executionUuid !== item.uuid)) return null
    waitpoints.push({ uuid, key: key ?? made!.key, made })
  }
  if (waitpoints.some(({ made }) => made !== null) && !hasItsKeys(item, waitpoints)) return null
  // Before any fact is known, only points in time are satisfied.
  const { dueAt: wakeAt } = evaluate(condition, { signals: [], now: -Infinity })
  return { item, waitpoints, wakeAt }
}

/** If not, it is refused with the others. */
function hasItsKeys(item: NewSuspension, waitpoints: DirectSuspension['waitpoints']): boolean {
  try {
    checkKeys(
      item,
      waitpoints.map(({ key }) => key),
    )
    return true
  } catch (error) {
    if (EngineError.is(error)) return false
    throw error
  }
}

export interface SuspendedDirectly {
  readonly kind: 'parked'
  readonly item: NewSuspension
  readonly row: RowOf<typeof recordStatement.row>
  readonly waitpoints: readonly (UnsignedWaitpoint & { readonly keyScope: string })[]
  readonly wakeAt: number | null
}

/** Returns the suspended ones. */
export async function suspendDirectly(
  sql: Sql,
  keys: SigningKeys,
  suspensions: readonly DirectSuspension[],
): Promise<ReadonlyMap<NewSuspension, SuspendedDirectly>> {
  if (suspensions.length === 0) return new Map()
  const [rows] = await sql.pipeline([
    call(recordStatement, { ...valuesOf(suspensions), opened_keys: keys.openedNames() }),
    parkCall(suspensions.map(({ item }) => item)),
  ])
  return new Map(
    rows.map((row) => {
      const { item, waitpoints, wakeAt } = suspensions[row.ordinal - 1]!
      const own = waitpoints.map(({ uuid, key, made }) => {
        return made ?? { uuid, key, kid: row.kid!, keyScope: row.key_scope!, createdAt: row.parked_at_ms }
      })
      return [item, { kind: 'parked', item, row, waitpoints: own, wakeAt }]
    }),
  )
}

function valuesOf(suspensions: readonly DirectSuspension[]) {
  const items = suspensions.map(({ item }) => item)
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
    waitpoints: suspensions.map(({ item: { condition }, waitpoints }) =>
      waitpoints.map(({ uuid, key, made }) => ({
        id: uuid,
        key,
        names: requiredSignalNames(condition, key),
        is_ahead: made !== null,
      })),
    ),
    fresh_counts: suspensions.map(({ waitpoints }) => waitpoints.filter(({ made }) => made === null).length),
    ahead_counts: suspensions.map(({ waitpoints }) => waitpoints.filter(({ made }) => made !== null).length),
    names: items.map(({ condition }) => namesTakenBy(condition)),
    wake_ats_ms: suspensions.map(({ wakeAt }) => wakeAt),
    keep_waitpoints: items.map((item) => item.keepsWaitpoints),
  }
}
