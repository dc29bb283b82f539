// Replays a member: it runs once more, and the members that its ending had skipped wait again. One transaction in two
// round trips: the first locks the root of the tree and reads the part of the graph that the member's ending can have
// reached; the code here decides which members reopen; the second writes and commits.
//
// Members that have ended change only under the root's lock, so the rows are still current when they are written. After
// the replay, an unresolved ending belongs to an older generation, and the resolver drops it.
import { attached } from '../../model/attached.ts'
import { EngineError } from '../../model/errors.ts'
import { formatExecutionId, formatFlowId } from '../../model/id.ts'
import { reopen, type LostGroup, type Reopening } from '../../model/reopen.ts'
import { call, type RowsOf, type Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import { clockAfter } from '../kernel/after-lock.ts'
import { nextDeadlineSql, reopenExecutions } from '../transition/reopen.ts'
import {
  refusalOf,
  repeatedReplay,
  replayedAs,
  type Replay,
  type Replayable,
  type Replayed,
} from '../execution/replay-request.ts'
import { readRequestsCall, rememberRequestsCall } from '../execution/request-memory.ts'
import { noEffects, type Written } from '../kernel/effects.ts'
import { asEngineError } from '../kernel/failure.ts'
import { untilSent } from '../kernel/resend.ts'
import { readCalls, type FoundMember, type LineMember, type ReplayRows, type ReachedEdge } from './replay-read.ts'
import { wholeFlow } from '../transition/whole-flow.ts'

// Locks the executions in the order of their ids. The root is written whatever else is: its version is the tree's.
const write = statement({
  name: 'flow.replay',
  params: {
    root_flow_id: 'uuid',
    execution_ids: 'uuid[]',
    are_blocked: 'bool[]',
    are_asked: 'bool[]',
    actor: 'text',
    reason: 'text?',
    edge_flow_ids: 'uuid[]',
    edge_ids: 'uuid[]',
    downstream_ids: 'uuid[]',
    satisfied_counts: 'int4[]',
    failed_counts: 'int4[]',
    skipped_counts: 'int4[]',
    group_states: 'text[]',
  },
  row: { execution_id: 'uuid', queue_id: 'int4', is_ready: 'bool' },
  text: `
with target as materialized (
  select e.*, i.is_blocked, i.is_requested
  from unnest($2::uuid[], $3::bool[], $4::bool[]) as i (execution_id, is_blocked, is_requested)
  join flowfabric.ff_exec_core e on e.execution_id = any (array[i.execution_id])
  order by i.execution_id
  for no key update of e
),
${clockAfter('target')},
reopening as materialized (
  select t.*, c.now_ms, ${nextDeadlineSql('c.now_ms')} as next_deadline_ms, $5::text as reopening_actor,
    $6::text as reopening_reason
  from target t
  cross join clock c
  join flowfabric.ff_exec_input n on n.partition_key = any (array[t.partition_key]) and n.execution_id = any (array[t.execution_id])
),
${reopenExecutions},
opened_edge as (
  update flowfabric.ff_edge x
  set resolution = null, resolved_generation = null
  from unnest($7::uuid[], $8::uuid[]) as i (flow_id, edge_id)
  where x.flow_id = any (array[i.flow_id]) and x.edge_id = any (array[i.edge_id])
),
opened_group as (
  update flowfabric.ff_edge_group g
  set satisfied = i.satisfied, failed = i.failed, skipped = i.skipped, state = i.state::flowfabric.ff_group_state,
    fired_at_ms = case when i.state = 'pending' then null else g.fired_at_ms end
  from unnest($9::uuid[], $10::int4[], $11::int4[], $12::int4[], $13::text[])
    as i (downstream_id, satisfied, failed, skipped, state)
  where g.downstream_id = any (array[i.downstream_id])
),
counted as materialized (
  select t.flow_id, t.terminal_outcome,
    -- Not an ending that is still owed.
    case when (
      select d.generation
      from flowfabric.ff_dispatch d
      where d.execution_id = t.execution_id and d.generation = t.generation and d.outcome = t.terminal_outcome
        and not d.is_counted) is null then t.terminal_outcome end as counted_outcome,
    case when t.attached & ${attached.subFlow} <> 0 then (
      select m.sub_flow_id
      from flowfabric.ff_flow_member m
      where m.flow_id = t.flow_id and m.execution_id = t.execution_id) end as sub_flow_id
  from target t
),
loss as materialized (
  select flow_id, count(*) filter (where outcome = 'success') as success,
    count(*) filter (where outcome = 'failed') as failed, count(*) filter (where outcome = 'cancelled') as cancelled,
    count(*) filter (where outcome = 'expired') as expired, count(*) filter (where outcome = 'skipped') as skipped,
    bool_or(is_reopened) as is_reopened, bool_or(is_held) as is_held
  from (
    select flow_id, counted_outcome as outcome, true as is_reopened, false as is_held from counted
    union all
    select $1, null, false, false
    union all
    -- The flow that a reopened member represents waits with it. It may have ended without a reopened member.
    select sub_flow_id, null, true, true from counted where terminal_outcome = 'skipped' and sub_flow_id is not null
  ) c
  group by flow_id
),
found_flow as materialized (
  select l.*, l.is_reopened and f.ended_at_ms is not null as was_ended, c.now_ms
  from loss l
  cross join clock c
  join flowfabric.ff_flow_core f on f.flow_id = any (array[l.flow_id])
),
opened_flow as (
  update flowfabric.ff_flow_core f
  set success_count = f.success_count - l.success,
    failed_count = f.failed_count - l.failed,
    cancelled_count = f.cancelled_count - l.cancelled,
    expired_count = f.expired_count - l.expired,
    skipped_count = f.skipped_count - l.skipped,
    ended_at_ms = case when not l.is_reopened then f.ended_at_ms end,
    is_held = f.is_held or l.is_held,
    outcome = case when l.is_reopened then 'none'::flowfabric.ff_terminal_outcome else f.outcome end,
    last_mutation_at_ms = greatest(l.now_ms, f.last_mutation_at_ms)
  from found_flow l
  where f.flow_id = any (array[l.flow_id])
  returning f.flow_id, f.partition_key, f.namespace, f.last_mutation_at_ms, l.was_ended
),
opened_flow_event as (
  insert into flowfabric.ff_event (occurred_at_ms, flow_id, event_type, partition_key, namespace, actor, reason)
  select last_mutation_at_ms, flow_id, 'flow_reopened', partition_key, namespace, $5, $6
  from opened_flow
  where was_ended
)
select execution_id, queue_id, eligibility_state = 'eligible_now' as is_ready
from reopened`,
})

// How long it waits for the lock of the flow.
const patienceMs = 2000

/** A refusal is a result, too. */
export async function replayMember(sql: Sql, item: Replay): Promise<Written<Replayed | EngineError>> {
  try {
    return await untilSent(sql, { again: false }, () => replayOnce(sql, item))
  } catch (error) {
    return { answer: error instanceof RepeatedReplay ? error.answer : asEngineError(error), effects: noEffects }
  }
}

async function replayOnce(sql: Sql, item: Replay): Promise<Written<Replayed>> {
  const reads = [...readCalls(item.uuid), readRequestsCall([item], true)] as const
  let answer!: Replayed
  const decide = ([root, found, members, edges, [repeated]]: RowsOf<typeof reads>) => {
    if (repeated !== undefined) throw new RepeatedReplay(repeatedReplay(item.executionId, repeated.answer))
    const { replayed, reopening, isBlocked } = decideReplay(item, root, found, members, edges)
    const { kind: _kind, executionId: _executionId, ...kept } = replayed
    answer = replayed
    return [
      call(write, valuesOf(item, root[0]!.flow_id, members, edges, reopening, isBlocked)),
      rememberRequestsCall([{ uuid: item.uuid, requestId: item.requestId, answer: kept }]),
    ] as const
  }
  const [written] = await sql.decide(reads, decide, { lockTimeoutMs: patienceMs, ...wholeFlow })
  const readyQueueIds = [...new Set(written.flatMap((row) => (row.is_ready ? [row.queue_id] : [])))]
  return { answer, effects: { readyQueueIds, wroteEvents: true } }
}

/** Ends the transaction with the result of the first request. */
class RepeatedReplay extends Error {
  readonly answer: Replayed

  constructor(answer: Replayed) {
    super('repeated')
    this.answer = answer
  }
}

function decideReplay(
  item: Replay,
  root: ReplayRows[0],
  [found]: readonly FoundMember[],
  members: readonly LineMember[],
  edges: readonly ReachedEdge[],
) {
  const { executionId, partition } = item
  if (found === undefined) {
    throw new EngineError('execution_not_found', `execution ${executionId} does not exist`, { executionId })
  }
  if (root.length === 0) {
    const sentence = `the flow of execution ${executionId} no longer exists; create a new execution instead`
    throw new EngineError('flow_not_found', sentence, { executionId })
  }
  const replayable: Replayable = {
    executionId,
    from: found.public_state,
    replayCount: found.replay_count,
    mostReplays: found.most_replays,
    generation: found.generation,
    deadlineAt: found.next_deadline_ms,
    deadlineDropped: found.deadline_dropped,
  }
  const refused = refusalOf(replayable) ?? refusalOfMember(item, found, members)
  if (refused !== null) throw refused
  const reopening = reopen(
    members.map((member) => member.execution_id),
    edges.map(edgeOf),
    new Map(edges.map((row) => [row.downstream_id, groupOf(row)])),
    endedAhead(edges),
  )
  const reopened = reopening.members.map((uuid) => formatExecutionId(partition, uuid))
  return {
    replayed: { ...replayedAs(replayable), reopened },
    reopening,
    isBlocked: found.group_state === 'pending',
  }
}

function refusalOfMember(
  { executionId, partition }: Replay,
  found: FoundMember,
  members: readonly LineMember[],
): EngineError | null {
  const cancelled = members.find((member) => member.is_cancelled)
  if (cancelled !== undefined) {
    const flowId = formatFlowId(partition, cancelled.flow_id)
    const sentence = `execution ${executionId} belongs to flow ${flowId}, which was cancelled; submit a new flow`
    return new EngineError('flow_terminal', sentence, { executionId, flowId })
  }
  if (found.is_sub_flow) {
    const sentence = `execution ${executionId} represents a nested flow; replay a member of that flow instead`
    return new EngineError('execution_not_runnable', sentence, { executionId, publicState: found.public_state })
  }
  if (found.group_state === 'impossible') {
    const upstreamId = formatExecutionId(partition, found.lost_upstream_id!)
    const sentence = `execution ${executionId} depends on ${upstreamId}, which is ${found.lost_upstream_state}; replay that execution instead`
    return new EngineError('execution_not_runnable', sentence, { executionId, upstreamId })
  }
  return null
}

function edgeOf(row: ReachedEdge) {
  const { edge_id: edgeId, upstream_id: upstreamId, downstream_id: downstreamId, resolution } = row
  return { edgeId, upstreamId, downstreamId, resolution }
}

function endedAhead(edges: readonly ReachedEdge[]): ReadonlyMap<string, ReadonlySet<string>> {
  const within = new Map<string, Set<string>>()
  for (const { standing_id: standing, upstream_id: upstream } of edges) {
    if (standing !== null) within.set(standing, (within.get(standing) ?? new Set()).add(upstream))
  }
  return within
}

function groupOf(row: ReachedEdge): LostGroup {
  const { downstream_id: downstreamId, policy: kind, on_satisfied: onSatisfied, quorum } = row
  const { state, total, satisfied, failed, skipped } = row
  return {
    downstreamId,
    policy: kind === 'quorum' ? { kind, k: quorum!, onSatisfied } : { kind, onSatisfied },
    state,
    total,
    satisfied,
    failed,
    skipped,
    isSealed: row.is_sealed,
    isDownstreamSkipped: row.is_downstream_skipped,
  }
}

function valuesOf(
  { actor, reason }: Replay,
  rootFlowId: string,
  [own, ...standing]: readonly LineMember[],
  edges: readonly ReachedEdge[],
  reopening: Reopening,
  isBlocked: boolean,
) {
  const flowOf = new Map(edges.map((row) => [row.edge_id, row.edge_flow_id]))
  const others = [...standing.map((member) => member.execution_id), ...reopening.members]
  return {
    root_flow_id: rootFlowId,
    execution_ids: [own!.execution_id, ...others],
    are_blocked: [isBlocked, ...others.map(() => true)],
    are_asked: [true, ...others.map(() => false)],
    actor,
    reason,
    edge_flow_ids: reopening.edges.map((edge) => flowOf.get(edge.edgeId)!),
    edge_ids: reopening.edges.map((edge) => edge.edgeId),
    downstream_ids: reopening.groups.map((group) => group.downstreamId),
    satisfied_counts: reopening.groups.map((group) => group.satisfied),
    failed_counts: reopening.groups.map((group) => group.failed),
    skipped_counts: reopening.groups.map((group) => group.skipped),
    group_states: reopening.groups.map((group) => group.state),
  }
}
