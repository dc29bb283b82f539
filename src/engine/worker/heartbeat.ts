// A heartbeat extends the time until its worker counts as gone, and writes nothing else: an idle fleet fills no log. A
// late heartbeat does not revive the worker; the worker registers again.
import { checkFields, type RequestOf } from '../../model/field.ts'
import { namespace, workerName } from '../../model/named-fields.ts'
import { readLedgerStatement, type LedgerEntry } from '../../sql/ledger.ts'
import { call, type Sql } from '../../sql/sql.ts'
import { statement, type RowOf } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import { clockAfter } from '../kernel/after-lock.ts'
import { noEffects } from '../kernel/effects.ts'
import { rowLocked, type Outcome, type SetOperation } from '../kernel/merge.ts'
import { scopeFor } from '../signing-key/scope.ts'

export const heartbeatFields = {
  workerInstanceId: workerName,
  /** As it was registered. */
  namespace: namespace.optional(),
}

export interface HeartbeatRequest extends RequestOf<typeof heartbeatFields> {}

export type HeartbeatResult =
  | { readonly kind: 'refreshed'; readonly workerInstanceId: string; readonly expiresAt: number }
  /** Unknown, deleted, declared dead, or too late: register again. */
  | { readonly kind: 'not_registered'; readonly workerInstanceId: string }

/** A checked request, as the statement takes it. */
export interface Instance {
  readonly scope: string
  readonly workerInstanceId: string
}

export function checkHeartbeatRequest(caller: Caller, request: HeartbeatRequest): Instance {
  const { workerInstanceId } = checkFields('workers.heartbeat', heartbeatFields, request)
  return { scope: scopeFor(caller, request.namespace), workerInstanceId }
}

const row = { ordinal: 'int8', is_locked: 'bool', expires_at_ms: 'int8?' } as const

// Locks the workers in the order of their keys and skips locked rows; for these the reply needs no lock.
const heartbeat = statement({
  name: 'worker.heartbeat',
  params: { namespaces: 'text[]', worker_instance_ids: 'text[]' },
  row,
  text: `
with input as materialized (
  select *
  from unnest($1::text[], $2::text[]) with ordinality as i (namespace, worker_instance_id, ordinal)
),
target as materialized (
  select i.ordinal, w.*
  from input i
  join flowfabric.ff_worker w
    on w.namespace = any (array[i.namespace]) and w.worker_instance_id = any (array[i.worker_instance_id])
  order by i.namespace, i.worker_instance_id
  for no key update of w skip locked
),
${clockAfter('target')},
looked as materialized (
  select t.*, c.now_ms
  from target t
  cross join clock c
),
beaten as (
  update flowfabric.ff_worker w
  set heartbeat_at_ms = k.now_ms, expires_at_ms = k.now_ms + k.ttl_ms
  from looked k
  where w.namespace = any (array[k.namespace]) and w.worker_instance_id = any (array[k.worker_instance_id])
    and k.expires_at_ms > k.now_ms
  returning k.ordinal, w.expires_at_ms
)
select ordinal, true as is_locked, expires_at_ms
from beaten
union all
select i.ordinal, false, null
from input i
join flowfabric.ff_worker w
  on w.namespace = any (array[i.namespace]) and w.worker_instance_id = any (array[i.worker_instance_id])
where i.ordinal not in (select ordinal from target)`,
})

const lockOne = statement({
  name: 'worker.lock',
  params: { namespace: 'text', worker_instance_id: 'text' },
  row: {},
  text: `
select from flowfabric.ff_worker
where namespace = $1 and worker_instance_id = $2
for no key update`,
})

/**
 * `onLedger` receives the schema's migrations with each set, so that a running worker notices when they go beyond its
 * code.
 */
export function heartbeatOperation(
  sql: Sql,
  onLedger: (ledger: readonly LedgerEntry[]) => void,
): SetOperation<Instance, HeartbeatResult> {
  return {
    keyOf: ({ scope, workerInstanceId }) => `${scope}\0${workerInstanceId}`,
    async send(items) {
      const calls = [call(heartbeat, columnsOf(items)), call(readLedgerStatement, {})] as const
      const [rows, ledger] = await sql.reserved.pipeline(calls)
      onLedger(ledger)
      return { outcomes: decode(items, rows), effects: noEffects }
    },
    async sendAlone(item, _again, lockTimeoutMs) {
      const lock = call(lockOne, { namespace: item.scope, worker_instance_id: item.workerInstanceId })
      const [, rows] = await sql.pipeline([lock, call(heartbeat, columnsOf([item]))], { lockTimeoutMs })
      return { outcomes: decode([item], rows), effects: noEffects }
    },
  }
}

function columnsOf(items: readonly Instance[]) {
  return {
    namespaces: items.map((item) => item.scope),
    worker_instance_ids: items.map((item) => item.workerInstanceId),
  }
}

function decode(items: readonly Instance[], rows: readonly RowOf<typeof row>[]): Outcome<HeartbeatResult>[] {
  const found = new Map(rows.map((found) => [found.ordinal, found]))
  return items.map(({ workerInstanceId }, index) => {
    const beaten = found.get(index + 1)
    if (beaten === undefined) return { kind: 'not_registered', workerInstanceId }
    return beaten.is_locked ? { kind: 'refreshed', workerInstanceId, expiresAt: beaten.expires_at_ms! } : rowLocked
  })
}
