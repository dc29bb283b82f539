// Renew: the leases of one worker instance, all in one call. A renewal touches the lease's row alone and writes its
// event.
//
// It also returns the instance's leases that the request did not name: they come from a claim whose reply was lost, and the
// worker adopts or releases them.
import { EngineError, refusal } from '../../model/errors.ts'
import { checkedBy, flag, unchecked } from '../../model/field-kinds.ts'
import { checkFields, type RequestOf } from '../../model/field.ts'
import { formatExecutionId, type ExecutionId } from '../../model/id.ts'
import { limits } from '../../model/limits.ts'
import { leaseTtl, workerName } from '../../model/named-fields.ts'
import { checkSet } from '../../model/sets.ts'
import { refuseUnknownFields } from '../../model/shape.ts'
import { show } from '../../model/text.ts'
import { call, type Sql } from '../../sql/sql.ts'
import { statement, type RowOf } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import { clockAfter } from '../kernel/after-lock.ts'
import { checkFence, fenceParams, fenceValues, type Fence, type CheckedFence } from '../transition/fence.ts'
import { fenceFields } from '../transition/fenced-request.ts'
import { fenceRow, lostLease } from '../transition/fenced-answer.ts'
import { untilSent } from '../kernel/resend.ts'

const renewedLeaseFields = {
  ...fenceFields,
  /** Its handler has started. If omitted, the lease's mark stays unchanged. */
  started: flag().default(false).describe('Its handler has started.'),
}

export interface RenewedLease extends RequestOf<typeof renewedLeaseFields> {}

export const renewFields = {
  workerInstanceId: workerName,
  /** A lease that is not valid is refused in its place, and the others are renewed. */
  leases: checkedBy<readonly RenewedLease[], readonly unknown[]>(
    (value, name) => checkSet(name, value, limits.leaseCount),
    { kind: 'list', of: unchecked({ kind: 'fields', fields: renewedLeaseFields }), max: limits.leaseCount },
  ),
  /** Defaults to 30 s, embedded to 60 s. */
  leaseTtl: leaseTtl.optional(),
}

export interface RenewRequest extends RequestOf<typeof renewFields> {}

export type LeaseAnswer =
  | {
      readonly kind: 'renewed'
      readonly executionId: ExecutionId
      readonly expiresAt: number
      readonly cancelRequested: boolean
    }
  | { readonly kind: 'lost'; readonly executionId: ExecutionId; readonly error: EngineError }

export interface RenewResult {
  /** In the order of the request. */
  readonly leases: readonly LeaseAnswer[]
  /**
   * Leases of this instance that the request did not name. A claim under way may have created some too: adopt or
   * release only leases that were unnamed while no claim was under way.
   */
  readonly unnamed: readonly (Fence & { readonly expiresAt: number })[]
}

/** The duration of a lease if the claim or the renewal names none. */
export function defaultLeaseTtlMs({ kind }: Sql): number {
  return kind === 'embedded' ? limits.defaultEmbeddedLeaseTtlMs : limits.defaultLeaseTtlMs
}

// A lease that another transaction has locked is being renewed or about to end, and is skipped: waiting for one would
// delay all of them. The query that follows returns whether it is lost, or valid until the next renewal.
const renewStatement = statement({
  name: 'execution.renew',
  params: { ...fenceParams, lease_ttl_ms: 'int8', started: 'bool[]' },
  row: { ordinal: 'int8', expires_at_ms: 'int8', cancel_requested: 'bool' },
  text: `
with held as materialized (
  select l.execution_id, i.ordinal, i.actor, e.partition_key, e.namespace, e.flow_id, e.generation,
    e.cancel_requested_at_ms is not null as cancel_requested, i.started
  from unnest($1::uuid[], $2::int2[], $3::text[], $4::uuid[], $5::int8[], $6::text[], $8::bool[])
    with ordinality as i (execution_id, partition_key, namespace, given_lease_id, given_epoch, actor, started, ordinal)
  join flowfabric.ff_lease l
    on l.execution_id = any (array[i.execution_id]) and l.lease_id = i.given_lease_id and l.lease_epoch = i.given_epoch
  join flowfabric.ff_exec_core e
    on e.execution_id = any (array[i.execution_id])
    and e.partition_key = i.partition_key
    and (i.namespace is null or e.namespace = i.namespace)
  order by i.execution_id
  for no key update of l skip locked
),
${clockAfter('held')},
held_now as materialized (
  select h.*, c.now_ms
  from held h
  cross join clock c
),
renewed as (
  update flowfabric.ff_lease l
  set expires_at_ms = k.now_ms + $7, renewed_at_ms = k.now_ms, is_started = l.is_started or k.started
  from held_now k
  where l.execution_id = any (array[k.execution_id]) and l.expires_at_ms > k.now_ms
  returning k.*, l.lease_id, l.lease_epoch, l.attempt_index, l.worker_instance_id, l.expires_at_ms
),
logged as (
  insert into flowfabric.ff_event (occurred_at_ms, execution_id, flow_id, generation, event_type, partition_key,
    namespace, actor, lease_effect, lease_id, lease_epoch, attempt_index, worker_instance_id)
  select now_ms, execution_id, flow_id, generation, 'renewed', partition_key, namespace, actor, 'renewed', lease_id,
    lease_epoch, attempt_index, worker_instance_id
  from renewed
)
select ordinal, expires_at_ms, cancel_requested
from renewed`,
})

const leaseRow = { ...fenceRow, expires_at_ms: 'int8?', cancel_requested: 'bool' } as const

const readLeases = statement({
  name: 'execution.renew.read',
  params: fenceParams,
  row: leaseRow,
  text: `
select i.ordinal, coalesce(l.expires_at_ms > flowfabric.ff_now_ms(), false) as is_held,
  coalesce(e.lease_id = i.given_lease_id and e.lease_epoch = i.given_epoch, false) as is_last_holder, e.lease_epoch,
  e.public_state, e.attempt_index as found_attempt, e.interruption, l.expires_at_ms,
  e.cancel_requested_at_ms is not null as cancel_requested
from unnest($1::uuid[], $2::int2[], $3::text[], $4::uuid[], $5::int8[], $6::text[])
  with ordinality as i (execution_id, partition_key, namespace, given_lease_id, given_epoch, actor, ordinal)
join flowfabric.ff_exec_core e
  on e.execution_id = any (array[i.execution_id])
  and e.partition_key = i.partition_key
  and (i.namespace is null or e.namespace = i.namespace)
left join flowfabric.ff_lease l
  on l.execution_id = any (array[i.execution_id]) and l.lease_id = i.given_lease_id and l.lease_epoch = i.given_epoch`,
})

const leasesOfInstance = statement({
  name: 'execution.renew.unnamed',
  params: { worker_instance_id: 'text', namespace: 'text?', named: 'uuid[]' },
  row: { execution_id: 'uuid', partition_key: 'int2', lease_id: 'uuid', lease_epoch: 'int8', expires_at_ms: 'int8' },
  text: `
select l.execution_id, e.partition_key, l.lease_id, l.lease_epoch, l.expires_at_ms
from flowfabric.ff_lease l
join flowfabric.ff_exec_core e on e.execution_id = any (array[l.execution_id])
where l.worker_instance_id = $1
  and ($2::text is null or e.namespace = $2)
  and l.expires_at_ms > flowfabric.ff_now_ms()
  and l.lease_id <> all ($3::uuid[])
limit 1000`,
})

export async function renew(sql: Sql, caller: Caller, request: RenewRequest): Promise<RenewResult> {
  const { workerInstanceId, leaseTtlMs } = checkFields('renew', renewFields, request)
  const checked = request.leases.map((lease) => checkRenewal(caller, lease))
  // The same lease twice is one renewal.
  const items = new Map(checked.flatMap((one) => (EngineError.is(one) ? [] : [[keyOf(one), one] as const])))
  const [renewed, others] = await untilSent(sql, { again: false }, () =>
    sql.reserved.pipeline([
      call(renewStatement, {
        ...fenceValues([...items.values()]),
        lease_ttl_ms: leaseTtlMs ?? defaultLeaseTtlMs(sql),
        started: [...items.values()].map((item) => item.isStarted),
      }),
      call(leasesOfInstance, {
        worker_instance_id: workerInstanceId,
        namespace: caller.namespace,
        named: [...items.values()].map((item) => item.leaseId),
      }),
    ]),
  )
  const answers = await answersOf(sql, [...items.values()], renewed)
  return {
    leases: checked.map((one, index) => answerIn(answers, one, request.leases[index]!)),
    unnamed: others.map((row) => ({
      executionId: formatExecutionId(row.partition_key, row.execution_id),
      leaseId: row.lease_id,
      leaseEpoch: row.lease_epoch,
      expiresAt: row.expires_at_ms,
    })),
  }
}

/** The result of `renew`, without renewing anything. */
export async function leaseStates(sql: Sql, caller: Caller, leases: readonly Fence[]): Promise<LeaseAnswer[]> {
  const checked = leases.map((lease) => checkLease(caller, lease))
  const items = new Map(checked.flatMap((one) => (EngineError.is(one) ? [] : [[keyOf(one), one] as const])))
  const answers = await answersOf(sql, [...items.values()], [])
  return checked.map((one, index) => answerIn(answers, one, leases[index]!))
}

function answerIn(
  answers: ReadonlyMap<string, LeaseAnswer>,
  one: CheckedFence | EngineError,
  lease: Fence,
): LeaseAnswer {
  if (!EngineError.is(one)) return answers.get(keyOf(one))!
  // The error repeats the given id if it is a string.
  const given: unknown = lease?.executionId
  return { kind: 'lost', executionId: (typeof given === 'string' ? given : undefined) as ExecutionId, error: one }
}

function checkRenewal(
  caller: Caller,
  lease: RenewedLease,
): (CheckedFence & { readonly isStarted: boolean }) | EngineError {
  const checked = checkLease(caller, lease, 'started')
  if (EngineError.is(checked)) return checked
  const { started = false } = lease
  if (typeof started === 'boolean') return { ...checked, isStarted: started }
  return refusal('invalid_input', 'started', show(started), 'true or false')
}

/** A lease that cannot be parsed is lost in its place, and the others are renewed. */
function checkLease(caller: Caller, lease: Fence, ...further: readonly string[]): CheckedFence | EngineError {
  try {
    if (typeof lease !== 'object' || lease === null) {
      return refusal('invalid_input', 'leases', `a list with ${show(lease)}`, 'a list of leases, as returned by claims')
    }
    refuseUnknownFields('leases', lease, ['executionId', 'leaseId', 'leaseEpoch', ...further])
    return checkFence(caller, lease)
  } catch (error) {
    if (EngineError.is(error)) return error
    throw error
  }
}

function keyOf({ uuid, leaseId, leaseEpoch }: CheckedFence): string {
  return `${uuid} ${leaseId} ${leaseEpoch}`
}

interface Renewed {
  readonly ordinal: number
  readonly expires_at_ms: number
  readonly cancel_requested: boolean
}

async function answersOf(
  sql: Sql,
  items: readonly CheckedFence[],
  renewed: readonly Renewed[],
): Promise<Map<string, LeaseAnswer>> {
  const answers = new Map<string, LeaseAnswer>()
  for (const row of renewed) {
    const item = items[row.ordinal - 1]!
    answers.set(keyOf(item), kept(item, row.expires_at_ms, row.cancel_requested))
  }
  const others = items.filter((item) => !answers.has(keyOf(item)))
  if (others.length === 0) return answers
  const rows = await sql.reserved.query(readLeases, fenceValues(others))
  const found = new Map(rows.map((row) => [row.ordinal, row]))
  others.forEach((item, index) => answers.set(keyOf(item), answerOf(item, found.get(index + 1))))
  return answers
}

function answerOf(item: CheckedFence, row: RowOf<typeof leaseRow> | undefined): LeaseAnswer {
  const { executionId } = item
  if (row?.is_held === true) return kept(item, row.expires_at_ms!, row.cancel_requested)
  const error =
    row === undefined
      ? new EngineError('execution_not_found', `execution ${executionId} does not exist`, { executionId })
      : lostLease(item, row)
  return { kind: 'lost', executionId, error }
}

function kept({ executionId }: CheckedFence, expiresAt: number, cancelRequested: boolean): LeaseAnswer {
  return { kind: 'renewed', executionId, expiresAt, cancelRequested }
}
