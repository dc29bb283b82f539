// Adds a member: a new execution, blocked from the start if it has upstreams; or an existing one without a flow.
import { attached } from '../../model/attached.ts'
import { formatExecutionId, type ExecutionId, type FlowId } from '../../model/id.ts'
import { refuseUnknownFields } from '../../model/shape.ts'
import { call } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import { mergeEffects, type Written } from '../kernel/effects.ts'
import { additionReads, foundMember, refuseUnaddable, refuseUnknownUpstreams } from './add-member-read.ts'
import { addMemberFields, checkAddition, type Addition, type AddMemberRequest } from './add-member-request.ts'
import { checkFlowTarget, editFlow, namespaceOf, refuseNoLongerOpen, refuseStale } from './edit.ts'
import type { FlowDeps } from './flow-deps.ts'
import { edgeColumnsOf, edgeParams, memberColumnsOf, memberParams, readyMembers, writeMembers } from './member-rows.ts'
import { oweDispatch, oweFirstDispatch, owedAnswer, owedRow } from './owe-dispatch.ts'

export interface MemberAdded {
  readonly kind: 'added' | 'already_member'
  readonly flowId: FlowId
  readonly executionId: ExecutionId
  readonly name: string
  readonly graphRevision: number
  readonly memberCount: number
}

/** One edit of the flow `$1` by `$2`; leaves the CTE `changed`. */
function changeFlow(edges: string): string {
  return `
changed as (
  update flowfabric.ff_flow_core f
  set graph_revision = f.graph_revision + 1,
    member_count = f.member_count + 1,
    edge_count = f.edge_count + ${edges},
    last_mutation_at_ms = greatest(c.now_ms, f.last_mutation_at_ms)
  from (select flowfabric.ff_now_ms() as now_ms offset 0) c
  where f.flow_id = $1
  returning f.flow_id, f.graph_revision, f.partition_key, f.namespace, f.last_mutation_at_ms as now_ms, $2::text as actor
)`
}

function addedEvent(executionId: string): string {
  return `
logged as (
  insert into flowfabric.ff_event (occurred_at_ms, flow_id, execution_id, event_type, partition_key, namespace, actor, details)
  select now_ms, flow_id, ${executionId}, 'flow_changed', partition_key, namespace, actor,
    jsonb_build_object('graphRevision', graph_revision, 'change', 'member_added')
  from changed
)`
}

const createMember = statement({
  name: 'flow.add-member',
  params: { flow_id: 'uuid', actor: 'text', ...memberParams, ...edgeParams },
  row: owedRow,
  text: `
with ${changeFlow('cardinality($24::uuid[])')},
accepted as materialized (
  select now_ms, partition_key, namespace, actor
  from changed
),
${writeMembers(3)},
${oweDispatch('changed', '$25')},
${addedEvent('($3::uuid[])[1]')}
${owedAnswer}`,
})

// Under the execution's lock. An execution that has ended already gets a dispatch row for the flow.
const joinMember = statement({
  name: 'flow.add-member.join',
  params: { flow_id: 'uuid', actor: 'text', execution_id: 'uuid', member_name: 'text' },
  row: owedRow,
  text: `
with ${changeFlow('0')},
marked as (
  update flowfabric.ff_exec_core e
  set flow_id = c.flow_id,
    attached = e.attached | ${attached.flow},
    last_mutation_at_ms = greatest(c.now_ms, e.last_mutation_at_ms)
  from changed c
  where e.execution_id = any (array[$3::uuid])
),
joined as (
  insert into flowfabric.ff_flow_member (flow_id, execution_id, member_name)
  select flow_id, $3, $4
  from changed
),
${oweFirstDispatch('changed', '$3::uuid')},
${addedEvent('$3')}
${owedAnswer}`,
})

export async function addMember(
  deps: FlowDeps,
  caller: Caller,
  request: AddMemberRequest,
): Promise<Written<MemberAdded>> {
  const { sql } = deps
  refuseUnknownFields('addMember', request, addMemberFields)
  const target = checkFlowTarget(caller, request.flowId)
  const namespace = await namespaceOf(sql, target)
  const addition = checkAddition(target, namespace, request)
  const write = await writeOf(addition, deps)
  const { flowId, executionId, name } = addition
  let isWritten = false
  const written = await editFlow<ReturnType<typeof additionReads>, MemberAdded>(
    deps,
    addition,
    additionReads(addition, namespace),
    (flow, [, , [row], upstreams, [existingEdge]], again) => {
      const { graph_revision: graphRevision, member_count: memberCount } = flow
      const member = foundMember(addition, row!)
      if (member !== null) {
        const isOwn = again && member.uuid === addition.executionUuid
        const found = { executionId: formatExecutionId(addition.partition, member.uuid), name: member.name }
        return {
          answer: { kind: isOwn ? 'added' : 'already_member', flowId, ...found, graphRevision, memberCount },
          writes: [],
        }
      }
      refuseNoLongerOpen(flowId, flow)
      refuseStale(flowId, flow, addition.expectedRevision)
      refuseUnaddable(addition, flow, row!)
      refuseUnknownUpstreams(addition, new Set(upstreams.map(({ execution_id: id }) => id)), existingEdge?.edge_id)
      isWritten = true
      const counts = { graphRevision: graphRevision + 1, memberCount: memberCount + 1 }
      return { answer: { kind: 'added', flowId, executionId, name, ...counts }, writes: [write.call] }
    },
  )
  if (!isWritten || write.member === null) return written
  return { ...written, effects: mergeEffects(written.effects, readyMembers([write.member], write.queueIds)) }
}

async function writeOf(addition: Addition, deps: FlowDeps) {
  const { uuid: flow_id, executionUuid, actor, name, created } = addition
  if (created === null) {
    const values = { flow_id, actor, execution_id: executionUuid, member_name: name }
    return { call: call(joinMember, values), member: null, queueIds: [] }
  }
  const { execution, edges, group } = created
  const member = { flowUuid: flow_id, name, execution, subFlow: null, isHeld: edges.length > 0 }
  const columns = await memberColumnsOf([member], deps)
  const rest = edgeColumnsOf(edges, group === null ? [] : [group])
  return { call: call(createMember, { flow_id, actor, ...columns, ...rest }), member, queueIds: columns.queue_ids }
}
