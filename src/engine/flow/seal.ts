// Seals the group of a member: no more edges will come, so it is known when the group is lost. Groups that are
// submitted, or created with their member, are sealed from the start.
import type { GroupState } from '../../model/edge-group.ts'
import { EngineError } from '../../model/errors.ts'
import { formatExecutionId, type ExecutionId, type FlowId } from '../../model/id.ts'
import { id } from '../../model/field-kinds.ts'
import { checkFields, type RequestOf } from '../../model/field.ts'
import { call } from '../../sql/sql.ts'
import { oneOf, statement, type RowOf } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import type { Written } from '../kernel/effects.ts'
import { checkMember, notInFlow } from './connect-request.ts'
import { checkFlowTarget, editFlow, refuseNoLongerOpen } from './edit.ts'
import { tooFewEdges } from './graph-refusal.ts'
import type { FlowDeps } from './flow-deps.ts'
import { oweDispatch, owedAnswer, owedRow } from './owe-dispatch.ts'
import { lostUpstreams, sealGroups } from './seal-groups.ts'

export const sealFields = { flowId: id('flow'), downstream: id('execution') }

export interface SealRequest extends RequestOf<typeof sealFields> {}

export interface Sealed {
  readonly kind: 'sealed' | 'already_sealed'
  readonly flowId: FlowId
  readonly downstream: ExecutionId
  /** How many inbound edges it has. */
  readonly total: number
}

const readGroup = statement({
  name: 'flow.seal.read',
  params: { flow_id: 'uuid', downstream_id: 'uuid' },
  row: {
    member_name: 'text',
    state: oneOf<GroupState | null>(),
    is_sealed: 'bool?',
    quorum: 'int4?',
    total: 'int4?',
  },
  text: `
select m.member_name, g.state, g.is_sealed, g.quorum, g.total
from flowfabric.ff_flow_member m
left join flowfabric.ff_edge_group g on g.downstream_id = any (array[m.execution_id])
where m.flow_id = $1 and m.execution_id = $2`,
})

const sealGroup = statement({
  name: 'flow.seal',
  params: { flow_id: 'uuid', downstream_id: 'uuid', actor: 'text' },
  row: owedRow,
  text: `
with changed as (
  update flowfabric.ff_flow_core f
  set last_mutation_at_ms = greatest(c.now_ms, f.last_mutation_at_ms)
  from (select flowfabric.ff_now_ms() as now_ms offset 0) c
  where f.flow_id = $1
  returning f.flow_id, f.graph_revision, f.partition_key, f.namespace, f.last_mutation_at_ms as now_ms
),
${sealGroups('g.downstream_id = any (array[$2::uuid])')},
${oweDispatch('changed', lostUpstreams)},
logged as (
  insert into flowfabric.ff_event (occurred_at_ms, flow_id, execution_id, event_type, partition_key, namespace, actor, details)
  select now_ms, flow_id, $2, 'flow_changed', partition_key, namespace, $3,
    jsonb_build_object('graphRevision', graph_revision, 'change', 'group_sealed')
  from changed
)
${owedAnswer}`,
})

export async function seal(deps: FlowDeps, caller: Caller, request: SealRequest): Promise<Written<Sealed>> {
  checkFields('seal', sealFields, request)
  const target = checkFlowTarget(caller, request.flowId)
  const downstream_id = checkMember(target, request.downstream)
  const { flowId, uuid: flow_id, partition, actor } = target
  const downstream = formatExecutionId(partition, downstream_id)
  const reads = [call(readGroup, { flow_id, downstream_id })] as const
  return editFlow<typeof reads, Sealed>(deps, target, reads, (flow, [[group]]) => {
    if (group === undefined) throw notInFlow(flowId, downstream)
    const total = checkTotal(group)
    if (group.is_sealed === true) {
      return { answer: { kind: 'already_sealed', flowId, downstream, total }, writes: [] }
    }
    refuseNoLongerOpen(flowId, flow)
    return {
      answer: { kind: 'sealed', flowId, downstream, total },
      writes: [call(sealGroup, { flow_id, downstream_id, actor })],
    }
  })
}

function checkTotal({ member_name: name, quorum, total }: RowOf<typeof readGroup.row>): number {
  if (total === null) {
    const sentence = `member '${name}' has no inbound edges to seal; connect it first`
    throw new EngineError('invalid_dependency', sentence, { name })
  }
  if (quorum !== null && quorum > total) throw tooFewEdges(name, quorum, total)
  return total
}
