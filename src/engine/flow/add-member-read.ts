// The rows that a new member depends on: itself, when it was added before; the name or the key of another; its
// upstreams.
import { EngineError } from '../../model/errors.ts'
import { formatExecutionId, formatFlowId } from '../../model/id.ts'
import { show } from '../../model/text.ts'
import { call } from '../../sql/sql.ts'
import { statement, type RowOf } from '../../sql/statement.ts'
import { forgetExpiredKeys } from '../execution/forget-keys.ts'
import { lockAlone } from '../transition/operator-set.ts'
import type { Addition } from './add-member-request.ts'
import { notInFlow } from './connect-request.ts'
import type { LockedFlow } from './edit.ts'
import { refuseTooLarge } from './graph-refusal.ts'

const readExisting = statement({
  name: 'flow.add-member.read',
  params: {
    flow_id: 'uuid',
    execution_id: 'uuid',
    member_name: 'text',
    namespace: 'text',
    idempotency_key: 'text?',
  },
  row: {
    partition_key: 'int2?',
    namespace: 'text?',
    other_flow_id: 'uuid?',
    own_name: 'text?',
    name_holder_id: 'uuid?',
    key_holder_id: 'uuid?',
    key_holder_name: 'text?',
    key_hash: 'bytea?',
  },
  text: `
select e.partition_key, e.namespace, nullif(e.flow_id, $1) as other_flow_id,
  m.member_name as own_name, n.execution_id as name_holder_id,
  k.execution_id as key_holder_id, h.member_name as key_holder_name, k.request_hash as key_hash
from (select $1::uuid as flow_id, $2::uuid as execution_id, $3::text as member_name) i
left join flowfabric.ff_exec_core e on e.execution_id = any (array[i.execution_id])
left join flowfabric.ff_flow_member m on m.flow_id = any (array[i.flow_id]) and m.execution_id = any (array[i.execution_id])
left join flowfabric.ff_flow_member n on n.flow_id = any (array[i.flow_id]) and n.member_name = any (array[i.member_name])
left join flowfabric.ff_idempotency_key k
  on k.namespace = $4 and k.scope_id = any (array[i.flow_id]) and k.idempotency_key = $5
left join flowfabric.ff_flow_member h on h.flow_id = any (array[i.flow_id]) and h.execution_id = any (array[k.execution_id])`,
})

export type AddMemberRows = RowOf<typeof readExisting.row>

const readUpstreams = statement({
  name: 'flow.add-member.read-upstreams',
  params: { flow_id: 'uuid', upstream_ids: 'uuid[]' },
  row: { execution_id: 'uuid' },
  text: `
select m.execution_id
from flowfabric.ff_flow_member m
where m.flow_id = $1 and m.execution_id = any ($2::uuid[])`,
})

const readEdges = statement({
  name: 'flow.add-member.read-edges',
  params: { flow_id: 'uuid', edge_ids: 'uuid[]' },
  row: { edge_id: 'uuid' },
  text: `
select g.edge_id
from flowfabric.ff_edge g
where g.flow_id = $1 and g.edge_id = any ($2::uuid[])
limit 1`,
})

/** The execution's lock first, if it exists: its state then does not change while it is added. */
export function additionReads(addition: Addition, namespace: string) {
  const { uuid: flow_id, executionUuid: execution_id, name: member_name, created } = addition
  const edges = created?.edges ?? []
  const key = created?.execution.idempotencyKey ?? null
  return [
    call(lockAlone, { execution_id }),
    forgetExpiredKeys(created === null ? [] : [created.execution], flow_id),
    call(readExisting, { flow_id, execution_id, member_name, namespace, idempotency_key: key }),
    call(readUpstreams, { flow_id, upstream_ids: edges.map((edge) => edge.upstreamUuid) }),
    call(readEdges, { flow_id, edge_ids: edges.map((edge) => edge.edgeUuid) }),
  ] as const
}

/** The member that this call would add, if it exists. */
export function foundMember(
  addition: Addition,
  row: AddMemberRows,
): { readonly uuid: string; readonly name: string } | null {
  const { executionUuid: uuid, created, partition } = addition
  if (row.own_name !== null) return { uuid, name: row.own_name }
  if (row.key_holder_id === null) return null
  const { idempotencyKey, requestHash } = created!.execution
  const first = row.key_holder_id
  const isSame = Buffer.compare(row.key_hash!, requestHash!) === 0
  if (isSame && row.key_holder_name !== null) return { uuid: first, name: row.key_holder_name }
  const executionId = formatExecutionId(partition, first)
  throw new EngineError(
    'idempotency_conflict',
    `idempotency key '${idempotencyKey}' was already used for a different request, which created ${executionId}; use another key, or repeat that request`,
    { idempotencyKey, executionId },
  )
}

export function refuseUnaddable(addition: Addition, flow: LockedFlow, row: AddMemberRows): void {
  const { flowId, executionId, partition, name, created } = addition
  const exists = row.namespace !== null
  if (created !== null && exists) {
    throw new EngineError('execution_id_taken', `execution id ${executionId} is already used; choose another`, {
      executionId,
    })
  }
  const isHere = row.namespace === flow.namespace && row.partition_key === partition
  if (created === null && !isHere) {
    throw new EngineError('execution_not_found', `execution ${executionId} does not exist`, { executionId })
  }
  if (row.other_flow_id !== null) {
    const other = formatFlowId(partition, row.other_flow_id)
    const sentence = `execution ${executionId} already belongs to flow ${other}; an execution can be in only one flow`
    throw new EngineError('execution_in_other_flow', sentence, { executionId, flowId: other })
  }
  if (row.name_holder_id !== null) {
    const holder = formatExecutionId(partition, row.name_holder_id)
    const sentence = `flow ${flowId} already has a member named ${show(name)}, ${holder}; choose another name`
    throw new EngineError('member_name_taken', sentence, { flowId, name, executionId: holder })
  }
  refuseTooLarge(flowId, flow.member_count + 1, flow.edge_count + (created?.edges.length ?? 0))
}

export function refuseUnknownUpstreams(
  addition: Addition,
  found: ReadonlySet<string>,
  existingEdgeId: string | undefined,
): void {
  const { flowId, partition, created } = addition
  const unknown = created?.edges.find((edge) => !found.has(edge.upstreamUuid))
  if (unknown !== undefined) throw notInFlow(flowId, formatExecutionId(partition, unknown.upstreamUuid))
  if (existingEdgeId === undefined) return
  const sentence = `flow ${flowId} already has an edge ${existingEdgeId}; use another id, or omit it`
  throw new EngineError('edge_exists', sentence, { flowId, edgeId: existingEdgeId })
}
