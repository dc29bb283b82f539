// Closes a flow: it accepts no more members and edges. From then on it can end, and it ends at once when all of its members have
// ended. The groups that its members wait for are sealed with it.
//
// How it ends is the decision of the resolver (`src/model/resolve-endings.ts`). A flow that ends with a member that did not succeed
// takes a second transaction, which reads the rows of those members.
import type { FlowId } from '../../model/id.ts'
import { noExtraFacts, type ExtraFacts, type FlowFact } from '../../model/ending-facts.ts'
import { resolveEndings } from '../../model/resolve-endings.ts'
import { refuseUnknownFields } from '../../model/shape.ts'
import { call, type Call, type RowsOf } from '../../sql/sql.ts'
import { statement, type RowOf } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import type { Written } from '../kernel/effects.ts'
import { checkFlowTarget, editFlow, type FlowTarget, type LockedFlow } from './edit.ts'
import { changeFlowsCall, restateCall } from '../transition/change-flows.ts'
import { flowFactColumns, flowFactRow, flowOf } from '../transition/flow-facts.ts'
import { endedFlowReads, endedTreesOf } from '../transition/read-ended-flows.ts'
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

// A quorum that is larger than the number of its edges.
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

const readFacts = statement({
  name: 'flow.close.look',
  params: { flow_id: 'uuid' },
  row: { ...flowFactRow, now_ms: 'int8' },
  text: `
select ${flowFactColumns}, k.now_ms
from flowfabric.ff_flow_core f
left join flowfabric.ff_exec_core s on s.execution_id = any (array[f.member_id])
cross join (select flowfabric.ff_now_ms() as now_ms offset 0) k
where f.flow_id = $1`,
})

const sealAll = statement({
  name: 'flow.close.seal',
  params: { flow_id: 'uuid', actor: 'text', now_ms: 'int8' },
  row: owedRow,
  text: `
with changed as materialized (
  select flow_id, partition_key, namespace, $3::int8 as now_ms
  from flowfabric.ff_flow_core
  where flow_id = $1
),
${sealGroups('g.flow_id = any (array[c.flow_id])')},
${oweDispatch('changed', lostUpstreams)},
logged as (
  insert into flowfabric.ff_event (occurred_at_ms, flow_id, event_type, partition_key, namespace, actor)
  select now_ms, flow_id, 'flow_closed', partition_key, namespace, $2
  from changed
)
${owedAnswer}`,
})

export async function closeFlow(deps: FlowDeps, caller: Caller, request: CloseRequest): Promise<Written<FlowClosed>> {
  refuseUnknownFields('close', request, ['flowId'])
  const target = checkFlowTarget(caller, request.flowId)
  const first = await closeOnce(deps, target, false)
  const { answer, effects } = first.answer === null ? await closeOnce(deps, target, true) : first
  // The flow may have ended with it.
  const endedFlowIds = answer!.kind === 'closed' ? { endedFlowIds: [target.uuid] } : {}
  return { answer: answer!, effects: { ...effects, ...endedFlowIds } }
}

/** Null when the decision needs the rows of the members that did not succeed, which `withTree` reads. */
function closeOnce(deps: FlowDeps, target: FlowTarget, withTree: boolean): Promise<Written<FlowClosed | null>> {
  const { flowId, uuid: flow_id, actor } = target
  const treeIds = withTree ? [flow_id] : []
  const looks = [call(lookUnsealable, { flow_id }), call(readFacts, { flow_id }), ...endedFlowReads(treeIds)] as const
  type Looked = RowsOf<typeof looks>
  return editFlow<typeof looks, FlowClosed | null>(deps, target, looks, (flow: LockedFlow, looked: Looked, again) => {
    const [[unsealable], [row], ...ended] = looked
    const { graph_revision: graphRevision } = flow
    if (flow.closed_at_ms !== null) {
      return { answer: { kind: again ? 'closed' : 'already_closed', flowId, graphRevision }, writes: [] }
    }
    if (unsealable !== undefined) throw tooFewEdges(unsealable.member_name, unsealable.quorum, unsealable.total)
    const writes = closeWrites(row!, actor, { ...noExtraFacts, trees: endedTreesOf(treeIds, ended) })
    if (writes === null) return { answer: null, writes: [] }
    return { answer: { kind: 'closed', flowId, graphRevision }, writes }
  })
}

function closeWrites(row: RowOf<typeof readFacts.row>, actor: string, extra: ExtraFacts): readonly Call[] | null {
  const [flow, now] = [flowOf(row), row.now_ms]
  const { lacks } = resolve(flow, extra)
  if (lacks.trees.length > 0) return null
  // The write waits for the skipped members whose reasons it corrects.
  const { flows, restated } = resolve(flow, { ...extra, locked: new Set(lacks.locks) })
  const seal = call(sealAll, { flow_id: flow.flowId, actor, now_ms: now })
  const change = changeFlowsCall(flows, { actor, cancelReason: null, now })
  return restated.size > 0 ? [seal, change, restateCall(restated)] : [seal, change]
}

function resolve(flow: FlowFact, extra: ExtraFacts) {
  const flows = new Map([[flow.flowId, flow]])
  return resolveEndings({
    endings: [],
    closing: [flow.flowId],
    flows,
    edges: [],
    isCutShort: false,
    groups: new Map(),
    extra,
  })
}
