// Deletes executions that ended long ago, with all their rows except the events.
import { call } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'

// The scopes that the key of `ff_exec_core e` can have; the nil uuid is the namespace.
export const keyScopes = `array['00000000-0000-0000-0000-000000000000', e.flow_id, e.parent_id, e.schedule_id]::uuid[]`

export interface PastExecution {
  readonly execution_id: string
  readonly partition_key: number
  readonly namespace: string
  readonly flow_id: string | null
  readonly parent_id: string | null
  readonly schedule_id: string | null
  readonly idempotency_key: string | null
}

/** The rows that are found by the execution alone. */
const deleteExecutions = statement({
  name: 'duty.retention.executions',
  params: { execution_ids: 'uuid[]', partition_keys: 'int2[]' },
  row: {},
  text: `
with past as materialized (
  select *
  from unnest($1::uuid[], $2::int2[]) as i (execution_id, partition_key)
),
cold as (
  delete from flowfabric.ff_exec_input n
  using past p
  where n.partition_key = any (array[p.partition_key]) and n.execution_id = any (array[p.execution_id])
),
result as (
  delete from flowfabric.ff_exec_result r
  using past p
  where r.execution_id = any (array[p.execution_id])
),
tag as (
  delete from flowfabric.ff_exec_tag t
  using past p
  where t.execution_id = any (array[p.execution_id])
),
attempt as (
  delete from flowfabric.ff_attempt a
  using past p
  where a.execution_id = any (array[p.execution_id])
),
progress as (
  delete from flowfabric.ff_progress g
  using past p
  where g.execution_id = any (array[p.execution_id])
),
request as (
  delete from flowfabric.ff_request r
  using past p
  where r.execution_id = any (array[p.execution_id])
),
grants as (
  delete from flowfabric.ff_grant g
  using past p
  where g.execution_id = any (array[p.execution_id])
),
step as (
  delete from flowfabric.ff_step s
  using past p
  where s.execution_id = any (array[p.execution_id])
),
suspension as (
  delete from flowfabric.ff_suspension_current s
  using past p
  where s.execution_id = any (array[p.execution_id])
),
waitpoint as (
  delete from flowfabric.ff_waitpoint_pending w
  using past p
  where w.execution_id = any (array[p.execution_id])
),
signal as (
  delete from flowfabric.ff_signal g
  using past p
  where g.execution_id = any (array[p.execution_id])
),
cancel as (
  delete from flowfabric.ff_cancel_backlog b
  using past p
  where b.execution_id = any (array[p.execution_id])
)
delete from flowfabric.ff_exec_core e
using past p
where e.execution_id = any (array[p.execution_id])`,
})

const deleteMembers = statement({
  name: 'duty.retention.members',
  params: { execution_ids: 'uuid[]', flow_ids: 'uuid[]' },
  row: {},
  text: `
with past as materialized (
  select *
  from unnest($1::uuid[], $2::uuid[]) as i (execution_id, flow_id)
),
inbound as (
  delete from flowfabric.ff_edge x
  using past p
  where x.downstream_id = any (array[p.execution_id])
),
outbound as (
  delete from flowfabric.ff_edge x
  using past p
  where x.upstream_id = any (array[p.execution_id])
),
edge_group as (
  delete from flowfabric.ff_edge_group g
  using past p
  where g.downstream_id = any (array[p.execution_id])
)
delete from flowfabric.ff_flow_member m
using past p
where m.flow_id = any (array[p.flow_id]) and m.execution_id = any (array[p.execution_id])`,
})

const deleteKeys = statement({
  name: 'duty.retention.keys',
  params: {
    execution_ids: 'uuid[]',
    namespaces: 'text[]',
    flow_ids: 'uuid?[]',
    parent_ids: 'uuid?[]',
    schedule_ids: 'uuid?[]',
    idempotency_keys: 'text[]',
  },
  row: {},
  text: `
delete from flowfabric.ff_idempotency_key k
using unnest($1::uuid[], $2::text[], $3::uuid[], $4::uuid[], $5::uuid[], $6::text[])
  as e (execution_id, namespace, flow_id, parent_id, schedule_id, idempotency_key)
where k.namespace = any (array[e.namespace]) and k.scope_id = any (${keyScopes})
  and k.idempotency_key = any (array[e.idempotency_key]) and k.execution_id = e.execution_id`,
})

/** Must be sent in the transaction that has locked these executions, after the lock. */
export function deletesFor(past: readonly PastExecution[]) {
  const members = past.flatMap(({ execution_id, flow_id }) => (flow_id === null ? [] : [{ execution_id, flow_id }]))
  const keyed = past.flatMap((row) => {
    return row.idempotency_key === null ? [] : [{ ...row, idempotency_key: row.idempotency_key }]
  })
  return [
    call(deleteMembers, {
      execution_ids: members.map((row) => row.execution_id),
      flow_ids: members.map((row) => row.flow_id),
    }),
    call(deleteKeys, {
      execution_ids: keyed.map((row) => row.execution_id),
      namespaces: keyed.map((row) => row.namespace),
      flow_ids: keyed.map((row) => row.flow_id),
      parent_ids: keyed.map((row) => row.parent_id),
      schedule_ids: keyed.map((row) => row.schedule_id),
      idempotency_keys: keyed.map((row) => row.idempotency_key),
    }),
    call(deleteExecutions, {
      execution_ids: past.map((row) => row.execution_id),
      partition_keys: past.map((row) => row.partition_key),
    }),
  ] as const
}
