// Edits a flow that grows: locks the outermost flow, reads, decides and writes. Inner flows are closed from the start, so
// the edited flow is always the outermost.
import { EngineError, refusal } from '../../model/errors.ts'
import { formatFlowId, parseFlowId, type FlowId } from '../../model/id.ts'
import { show } from '../../model/text.ts'
import { call, type Call, type RowsOf, type Sql } from '../../sql/sql.ts'
import { oneOf, statement, type RowOf } from '../../sql/statement.ts'
import type { TerminalOutcome } from '../../model/state.ts'
import type { Caller } from '../kernel/caller.ts'
import { noEffects, onlyEvents, type Written } from '../kernel/effects.ts'
import { pendingDispatch } from '../kernel/pending-dispatch.ts'
import { untilSent } from '../kernel/resend.ts'
import type { FlowDeps } from './flow-deps.ts'
import { wholeFlow } from '../transition/whole-flow.ts'

export interface FlowTarget {
  readonly flowId: FlowId
  readonly partition: number
  readonly uuid: string
  readonly namespace: string | null
  readonly actor: string
}

export function checkFlowTarget(caller: Caller, flowId: string): FlowTarget {
  const { partition, uuid } = parseFlowId(flowId)
  // As it is stored: a uuid may be written in capitals.
  return { flowId: formatFlowId(partition, uuid), partition, uuid, namespace: caller.namespace, actor: caller.actor }
}

/** The revision that the caller has read; null without one. */
export function checkExpectedRevision(value: unknown): number | null {
  if (value === undefined) return null
  if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number
  throw refusal('invalid_input', 'expectedRevision', show(value), 'a whole number of at least 0')
}

/** Waits for the lock of the tree. */
export const lockTree = statement({
  name: 'flow.lock-tree',
  params: { flow_id: 'uuid' },
  row: {},
  text: `
select
from flowfabric.ff_flow_core root
where root.flow_id = (select f.root_flow_id from flowfabric.ff_flow_core f where f.flow_id = $1)
for no key update`,
})

const readFlow = statement({
  name: 'flow.read-locked',
  params: { flow_id: 'uuid', partition_key: 'int2', namespace: 'text?' },
  row: {
    namespace: 'text',
    closed_at_ms: 'int8?',
    cancelled_at_ms: 'int8?',
    outcome: oneOf<TerminalOutcome>(),
    graph_revision: 'int8',
    member_count: 'int4',
    edge_count: 'int4',
  },
  text: `
select namespace, closed_at_ms, cancelled_at_ms, outcome, graph_revision, member_count, edge_count
from flowfabric.ff_flow_core
where flow_id = $1 and partition_key = $2 and ($3::text is null or namespace = $3)`,
})

export type LockedFlow = RowOf<typeof readFlow.row>

const readNamespace = statement({
  name: 'flow.read-namespace',
  params: { flow_id: 'uuid', partition_key: 'int2' },
  row: { namespace: 'text' },
  text: `
select namespace
from flowfabric.ff_flow_core
where flow_id = $1 and partition_key = $2`,
})

/** Everything in a flow belongs to its namespace, which never changes. */
export async function namespaceOf(sql: Sql, target: FlowTarget): Promise<string> {
  if (target.namespace !== null) return target.namespace
  const [row] = await sql.query(readNamespace, { flow_id: target.uuid, partition_key: target.partition })
  if (row === undefined) throw flowNotFound(target.flowId)
  return row.namespace
}

/** The result, and the writes for it: none for something that exists already. */
export interface EditDecision<Answer> {
  readonly answer: Answer
  /** A write of `owedRow` reports whether the dispatcher has work. */
  readonly writes: readonly Call[]
}

// The same bound as for a call that finds its row locked.
const lockTimeoutMs = 2000

/**
 * The `extra` reads are sent under the flow's lock, in order. `decide` receives the flow, their rows, and whether an
 * earlier reply was lost. If it throws, nothing is written.
 */
export async function editFlow<const Reads extends readonly Call[], Answer>(
  { sql, turns }: FlowDeps,
  target: FlowTarget,
  extra: Reads,
  decide: (flow: LockedFlow, rows: RowsOf<Reads>, again: boolean) => EditDecision<Answer>,
): Promise<Written<Answer>> {
  const { flowId, uuid: flow_id, partition: partition_key, namespace } = target
  const reads = [call(lockTree, { flow_id }), call(readFlow, { flow_id, partition_key, namespace }), ...extra] as const
  const send = async (again: boolean): Promise<Written<Answer>> => {
    let answer: Answer
    const written = await sql.decide(
      reads,
      ([, [flow], ...rows]) => {
        if (flow === undefined) throw flowNotFound(flowId)
        const decision = decide(flow, rows, again)
        answer = decision.answer
        return decision.writes
      },
      { lockTimeoutMs, ...wholeFlow },
    )
    if (written.length === 0) return { answer: answer!, effects: noEffects }
    // A member had ended before the edit, so that no ending will dispatch it.
    const isPending = written.flat().some((row) => row['owes'] === true)
    return {
      answer: answer!,
      effects: isPending ? { pendingDispatch: pendingDispatch.flow, ...onlyEvents } : onlyEvents,
    }
  }
  return turns.take(target.uuid, () => untilSent(sql, { again: false }, send))
}

export function refuseNoLongerOpen(flowId: FlowId, flow: LockedFlow): void {
  if (flow.cancelled_at_ms !== null) throw notOpen('flow_terminal', flowId, 'was cancelled')
  if (flow.outcome !== 'none') throw notOpen('flow_terminal', flowId, `has ended (${flow.outcome})`)
  if (flow.closed_at_ms !== null) throw notOpen('flow_closed', flowId, 'is closed')
}

function notOpen(code: 'flow_terminal' | 'flow_closed', flowId: FlowId, fact: string): EngineError {
  const sentence = `flow ${flowId} ${fact} and accepts no more members or edges; create another flow`
  return new EngineError(code, sentence, { flowId })
}

export function refuseStale(flowId: FlowId, flow: LockedFlow, expected: number | null): void {
  const found = flow.graph_revision
  if (expected === null || expected === found) return
  throw new EngineError(
    'stale_graph_revision',
    `flow ${flowId} is at revision ${found}, not ${expected}; read the graph again and retry`,
    { flowId, graphRevision: found, expectedRevision: expected },
  )
}

export function flowNotFound(flowId: string): EngineError {
  return new EngineError('flow_not_found', `flow ${flowId} does not exist`, { flowId })
}
