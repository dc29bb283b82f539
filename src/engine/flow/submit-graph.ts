// Writes a whole graph in one statement: flows, members, edges and groups exist together, or not at all.
import { EngineError } from '../../model/errors.ts'
import { formatExecutionId, formatFlowId, type ExecutionId, type FlowId } from '../../model/id.ts'
import { call } from '../../sql/sql.ts'
import { statement, type RowOf } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import { noEffects, type Written } from '../kernel/effects.ts'
import { untilSent } from '../kernel/resend.ts'
import type { NewFlow } from './flow-request.ts'
import { checkGraphRequest } from './graph-reader.ts'
import { flowIdTaken } from './graph-refusal.ts'
import type { GraphRequest } from './graph-request.ts'
import type { FlowDeps } from './flow-deps.ts'
import { edgeColumnsOf, edgeParams, memberColumnsOf, memberParams, readyMembers, writeMembers } from './member-rows.ts'
import type { NewGraph } from './new-graph.ts'
import { forRows } from '../transition/whole-flow.ts'

export interface SubmittedGraph extends SubmittedFlow {
  /** A duplicate returns the flow that the same request created before. */
  readonly kind: 'submitted' | 'duplicate'
  readonly graphRevision: number
}

export interface SubmittedFlow {
  readonly flowId: FlowId
  /** By name, including members that represent a flow. */
  readonly members: Readonly<Record<string, ExecutionId>>
  /** By the name of the member that represents it. */
  readonly innerFlows: Readonly<Record<string, SubmittedFlow>>
}

// The statement reads existing rows first and skips them. A row that another transaction inserted meanwhile fails the
// statement with 23505; it is then sent again and finds the row. Takes no locks except on its new rows.
const insertGraph = statement({
  name: 'flow.submit-graph',
  params: {
    root_flow_id: 'uuid',
    partition_key: 'int2',
    namespace: 'text',
    actor: 'text',
    creator: 'text',
    request_hash: 'bytea',
    is_closed: 'bool',
    given_ids: 'uuid[]',
    flow_ids: 'uuid[]',
    flow_member_ids: 'uuid?[]',
    flow_kinds: 'text[]',
    flow_tags: 'jsonb?[]',
    member_counts: 'int4[]',
    edge_counts: 'int4[]',
    flow_are_held: 'bool[]',
    ...memberParams,
    ...edgeParams,
  },
  row: {
    graph_revision: 'int8?',
    existing_partition: 'int2?',
    existing_namespace: 'text?',
    existing_request_hash: 'bytea?',
    taken_id: 'uuid?',
  },
  text: `
with existing as materialized (
  select partition_key, namespace, request_hash, graph_revision
  from flowfabric.ff_flow_core
  where flow_id = $1
),
-- If the flow exists, the given ids are its own.
taken as materialized (
  select e.execution_id
  from unnest($8::uuid[]) as i (execution_id)
  join flowfabric.ff_exec_core e on e.execution_id = any (array[i.execution_id])
  where not exists (select from existing)
  limit 1
),
accepted as materialized (
  select c.now_ms, $2::int2 as partition_key, $3::text as namespace, $4::text as actor
  from (select flowfabric.ff_now_ms() as now_ms offset 0) c
  where not exists (select from existing) and not exists (select from taken)
),
flow as (
  -- An inner flow is closed, whatever the outermost one is.
  insert into flowfabric.ff_flow_core (flow_id, root_flow_id, member_id, created_at_ms, last_mutation_at_ms, closed_at_ms,
    graph_revision, member_count, edge_count, is_held, partition_key, namespace, flow_kind, creator_identity, request_hash)
  select i.flow_id, $1, i.member_id, a.now_ms, a.now_ms, case when $7 or i.member_id is not null then a.now_ms end,
    1, i.member_count, i.edge_count, i.is_held, a.partition_key, a.namespace, i.flow_kind, $5,
    case when i.member_id is null then $6::bytea end
  from accepted a
  cross join unnest($9::uuid[], $10::uuid[], $11::text[], $13::int4[], $14::int4[], $15::bool[])
    as i (flow_id, member_id, flow_kind, member_count, edge_count, is_held)
  returning flow_id, member_id, created_at_ms, partition_key, namespace, member_count, edge_count
),
flow_tagged as (
  insert into flowfabric.ff_flow_tag (flow_id, created_at_ms, namespace, tag_key, tag_value)
  select i.flow_id, a.now_ms, a.namespace, t.key, t.value
  from accepted a
  cross join unnest($9::uuid[], $12::jsonb[]) as i (flow_id, tags)
  cross join lateral jsonb_each_text(i.tags) t
  where i.tags is not null
),
logged as (
  insert into flowfabric.ff_event (occurred_at_ms, flow_id, execution_id, event_type, partition_key, namespace, actor, details)
  select created_at_ms, flow_id, member_id, 'flow_created', partition_key, namespace, $4,
    jsonb_build_object('graphRevision', 1, 'members', member_count, 'edges', edge_count)
  from flow
),
${writeMembers(16)}
select m.graph_revision, m.partition_key as existing_partition, m.namespace as existing_namespace,
  m.request_hash as existing_request_hash, (select execution_id from taken) as taken_id
from (select) one
left join existing m on true`,
})

// Of the whole tree: the outermost flow is its own root.
const readMembers = statement({
  name: 'flow.submit-graph.members',
  params: { root_flow_id: 'uuid' },
  row: { flow_id: 'uuid', execution_id: 'uuid', sub_flow_id: 'uuid?', member_name: 'text' },
  text: `
select m.flow_id, m.execution_id, m.sub_flow_id, m.member_name
from flowfabric.ff_flow_core f
join flowfabric.ff_flow_member m on m.flow_id = any (array[f.flow_id])
where f.root_flow_id = $1`,
})

export async function submitGraph(
  deps: FlowDeps,
  caller: Caller,
  request: GraphRequest,
): Promise<Written<SubmittedGraph>> {
  const { sql } = deps
  const graph = checkGraphRequest(caller, request)
  const [root] = graph.flows
  const values = { ...columnsOf(graph), ...(await memberColumnsOf(graph.members, deps)) }
  const options = forRows(graph.members.length + graph.edges.length)
  let isRepeat = false
  const [[row]] = await untilSent(sql, { again: false }, (again) => {
    isRepeat = again
    return sql.pipeline([call(insertGraph, values)], options)
  })
  if (row!.taken_id !== null) throw idTaken(formatExecutionId(root!.partition, row!.taken_id))
  if (row!.graph_revision === null) {
    const answer = { kind: 'submitted', graphRevision: 1, ...submittedFlow(root!, membersOf(graph)) } as const
    return { answer, effects: readyMembers(graph.members, values.queue_ids) }
  }
  if (!isSame(graph, row!)) throw flowIdTaken(root!.flowId)
  const members = await sql.query(readMembers, { root_flow_id: root!.uuid })
  // An id that we minted and sent before exists only because that send was committed and its reply lost.
  const kind = isRepeat && root!.minted ? 'submitted' : 'duplicate'
  const answer = { kind, graphRevision: row!.graph_revision, ...submittedFlow(root!, members) } as const
  return { answer, effects: noEffects }
}

function columnsOf(graph: NewGraph) {
  const { flows, members, requestHash, isClosed } = graph
  const root = flows[0]!
  return {
    root_flow_id: root.uuid,
    partition_key: root.partition,
    namespace: root.namespace,
    actor: root.actor,
    creator: root.creator,
    request_hash: requestHash,
    is_closed: isClosed,
    given_ids: members.flatMap(({ execution }) => (execution.minted ? [] : [execution.uuid])),
    flow_ids: flows.map((flow) => flow.uuid),
    flow_member_ids: flows.map((flow) => flow.memberUuid),
    flow_kinds: flows.map((flow) => flow.kind),
    flow_tags: flows.map((flow) => (Object.keys(flow.tags).length === 0 ? null : flow.tags)),
    member_counts: flows.map((flow) => flow.memberCount),
    edge_counts: flows.map((flow) => flow.edgeCount),
    flow_are_held: flows.map((flow) => flow.isHeld),
    ...edgeColumnsOf(graph.edges, graph.groups),
  }
}

function isSame({ flows, requestHash }: NewGraph, row: RowOf<typeof insertGraph.row>): boolean {
  const root = flows[0]!
  if (row.existing_partition !== root.partition || row.existing_namespace !== root.namespace) return false
  return row.existing_request_hash !== null && Buffer.compare(row.existing_request_hash, requestHash) === 0
}

type MemberRow = RowOf<typeof readMembers.row>

function membersOf({ members }: NewGraph): MemberRow[] {
  return members.map(({ flowUuid, execution, subFlow, name }) => ({
    flow_id: flowUuid,
    execution_id: execution.uuid,
    sub_flow_id: subFlow?.uuid ?? null,
    member_name: name,
  }))
}

function submittedFlow(root: NewFlow, rows: readonly MemberRow[]): SubmittedFlow {
  const byFlow = new Map<string, MemberRow[]>()
  for (const row of rows) {
    const members = byFlow.get(row.flow_id)
    if (members === undefined) byFlow.set(row.flow_id, [row])
    else members.push(row)
  }
  const { partition } = root
  const flowOf = (uuid: string): SubmittedFlow => {
    const members = byFlow.get(uuid) ?? []
    return {
      flowId: formatFlowId(partition, uuid),
      members: Object.fromEntries(
        members.map((row) => [row.member_name, formatExecutionId(partition, row.execution_id)]),
      ),
      innerFlows: Object.fromEntries(
        members.flatMap((row) => (row.sub_flow_id === null ? [] : [[row.member_name, flowOf(row.sub_flow_id)]])),
      ),
    }
  }
  return flowOf(root.uuid)
}

function idTaken(executionId: ExecutionId): EngineError {
  return new EngineError(
    'execution_id_taken',
    `execution ${executionId} already exists; a graph creates its members, so use a new id or omit it`,
    { executionId },
  )
}
