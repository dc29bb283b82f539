// No more members and edges: from here on the flow can end, and has ended at once when all of its members have. What they
// wait for is sealed with it.
import type { FlowId } from '../../model/id.ts'
import { refuseUnknownFields } from '../../model/shape.ts'
import { call } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import type { Written } from '../kernel/effects.ts'
import { checkFlowTarget, editFlow } from './edit.ts'
import { changeFlows, judgeFlows } from '../transition/flow-ending.ts'
import { restateSkips } from '../transition/evaluate-flow-ending.ts'
import { tooFewEdges } from './graph-refusal.ts'
import type { FlowDeps } from './flow-deps.ts'
import { oweDispatch, owedAnswer, owedRow } from './owe-dispatch.ts'
import { lostUpstreams, sealGroups } from './seal-groups.ts'

export interface CloseRequest {
  readonly flowId: string
}

export interface FlowClosed {
  readonly kind: 'closed' | 'already_closed'
  readonly flowId: FlowId
  readonly graphRevision: number
}

// A quorum that its edges cannot make up.
const lookUnsealable = statement({
  name: 'flow.close.look-unsealable',
  params: { flow_id: 'uuid' },
  row: { member_name: 'text', quorum: 'int4', total: 'int4' },
  text: `
select m.member_name, g.quorum, g.total
from flowfabric.ff_edge_group g
join flowfabric.ff_flow_member m on m.flow_id = any (array[g.flow_id]) and m.execution_id = any (array[g.downstream_id])
where g.flow_id = $1 and not g.is_sealed and g.state = 'pending' and g.quorum > g.total
limit 1`,
})

const closeOpen = statement({
  name: 'flow.close',
  params: { flow_id: 'uuid', actor: 'text' },
  row: owedRow,
  text: `
with flow_change as materialized (
  select f.flow_id, f.ctid as flow_row, 0 as success, 0 as failed, 0 as cancelled, 0 as expired, 0 as skipped, true as closes,
    false as begins, null::flowfabric.ff_cancel_policy as marks, null::text as mark_reason, $2::text as change_actor, c.now_ms
  from flowfabric.ff_flow_core f
  cross join (select flowfabric.ff_now_ms() as now_ms offset 0) c
  where f.flow_id = $1
),
${judgeFlows},
restated as materialized (
  select r.reason, e.ctid as target_row
  from skip_change r
  join flowfabric.ff_exec_core e on e.execution_id = any (array[r.execution_id])
  order by r.execution_id
  for no key update of e
),
${restateSkips},
${changeFlows('flow_after')},
changed as materialized (
  select flow_id, partition_key, namespace, now_ms
  from changed_flow
),
${sealGroups('g.flow_id = any (array[c.flow_id])')},
${oweDispatch('changed', lostUpstreams)},
told as (
  insert into flowfabric.ff_event (occurred_at_ms, flow_id, event_type, partition_key, namespace, actor)
  select now_ms, flow_id, 'flow_closed', partition_key, namespace, $2
  from changed
)
${owedAnswer}`,
})

export async function closeFlow(deps: FlowDeps, caller: Caller, request: CloseRequest): Promise<Written<FlowClosed>> {
  refuseUnknownFields('close', request, ['flowId'])
  const target = checkFlowTarget(caller, request.flowId)
  const { flowId, uuid: flow_id, actor } = target
  const looks = [call(lookUnsealable, { flow_id })] as const
  const written = await editFlow<typeof looks, FlowClosed>(deps, target, looks, (flow, [[unsealable]], again) => {
    const { graph_revision: graphRevision } = flow
    if (flow.closed_at_ms !== null) {
      return { answer: { kind: again ? 'closed' : 'already_closed', flowId, graphRevision }, writes: [] }
    }
    if (unsealable !== undefined) throw tooFewEdges(unsealable.member_name, unsealable.quorum, unsealable.total)
    return { answer: { kind: 'closed', flowId, graphRevision }, writes: [call(closeOpen, { flow_id, actor })] }
  })
  if (written.answer.kind !== 'closed') return written
  // The flow may have ended with it.
  return { ...written, effects: { ...written.effects, endedFlowIds: [flow_id] } }
}
