// The resolver: the effects of endings on their flows, for a set of dispatch rows, one hop at a time. Edges are resolved, groups fire,
// members are released or skipped, members are counted, flows end. Endings that follow write dispatch rows of their own, which are
// the next hop.
//
// One transaction in two round trips: it takes dispatch rows, locks their flows and the downstream members, and reads; the model
// decides; it writes with the commit. It waits for no other transaction. An ending that needs a row which another transaction has
// locked keeps its dispatch row, and a later set takes it again.
//
// Few sets need more than the first reads: whether a failure skipped a member, how a flow ends in which a member failed, the lock of
// the member that a flow represents. The decision names these facts and leaves their endings; they are then resolved again with them.
import {
  noExtraFacts,
  type ExtraFacts,
  type Facts,
  type FlowFact,
  type GroupFact,
  type MemberEnding,
  type OpenEdge,
} from '../../model/ending-facts.ts'
import type { StoredEdgeKind } from '../../model/edge-group.ts'
import { noChange, resolveEndings, type Resolution } from '../../model/resolve-endings.ts'
import type { Call, Sql } from '../../sql/sql.ts'
import { releaseCall } from '../kernel/due.ts'
import { untilSent } from '../kernel/resend.ts'
import { mergeEffects } from '../kernel/effects.ts'
import { pendingDispatch } from '../kernel/pending-dispatch.ts'
import { changeFlowsCall, restateCall } from '../transition/change-flows.ts'
import { endCall } from '../transition/end.ts'
import { lockSetCall } from '../transition/lock-set.ts'
import { flowOf } from '../transition/flow-facts.ts'
import { endedFlowReads, endedTreesOf } from '../transition/read-ended-flows.ts'
import { wholeFlow } from '../transition/whole-flow.ts'
import { cancelMembersCall } from './cancel-members.ts'
import type { TakenSet } from './pass-over.ts'
import { mostEdges, readEdgesCall, readFlowsCall, readSkipsCall, type FlowRow, type GroupRow } from './read-tree.ts'
import { releaseMembersCall, repeatEndedCall, startNestedCall } from './release-members.ts'
import { settleCall } from './settle.ts'
import { dispatchDuty, takeNamedCall, type TakeCall, type TakenDispatch } from './take-dispatches.ts'

export interface ResolveOptions {
  readonly batch: number
  /** The duty releases the rows that it resolved from quarantine, and may take as long as a whole flow. */
  readonly isDuty: boolean
}

// First without these facts, then with them, then with the locks of the members whose skip reasons change.
const mostTries = 3

/** Resolves the rows that `take` takes. */
export async function resolveSet(sql: Sql, take: TakeCall, options: ResolveOptions): Promise<TakenSet> {
  let { lacking, ...taken } = await resolveOnce(sql, { take, ...options, lacks: noLacks })
  let lacks = noLacks
  for (let tries = 1; lacking.executionIds.length > 0 && tries < mostTries; tries += 1) {
    lacks = bothOf(lacks, lacking.lacks)
    const { lacking: left, ...rest } = await resolveOnce(sql, {
      take: takeNamedCall(lacking.executionIds),
      ...options,
      lacks,
    })
    taken = withRest(taken, rest)
    lacking = left
  }
  // A decision requests only as many trees as fit into memory.
  const isFlowPending = lacking.executionIds.length > 0 && taken.done > 0
  return isFlowPending ? withRest(taken, moreFlows) : taken
}

type Lacked = Resolution['lacks']

const noLacks: Lacked = { skips: [], trees: [], locks: [] }

function bothOf(one: Lacked, other: Lacked): Lacked {
  return {
    skips: [...one.skips, ...other.skips],
    trees: [...one.trees, ...other.trees],
    locks: [...one.locks, ...other.locks],
  }
}

interface Try extends ResolveOptions {
  readonly take: TakeCall
  /** The facts that the earlier decisions on these rows lacked. */
  readonly lacks: Lacked
}

interface Tried extends TakenSet {
  readonly lacking: { readonly executionIds: readonly string[]; readonly lacks: Lacked }
}

async function resolveOnce(sql: Sql, { take, batch, isDuty, lacks }: Try): Promise<Tried> {
  let decided!: Decided
  const decide = (taken: Taken, groups: Groups, flows: Flows, extra: ExtraFacts): readonly Call[] => {
    decided = decideOn(taken, groups, flows, batch, extra)
    return writesOf(decided, isDuty)
  }
  const [edges, flows] = [readEdgesCall(batch), readFlowsCall]
  const send = () =>
    lacks === noLacks
      ? sql.decide([take, edges, flows] as const, (rows) => decide(...rows, noExtraFacts), isDuty ? wholeFlow : {})
      : sql.decide(
          [
            take,
            lockSetCall(lacks.locks),
            edges,
            flows,
            readSkipsCall(lacks.skips),
            ...endedFlowReads(lacks.trees),
          ] as const,
          ([taken, locked, groupRows, flowRows, skips, ...ended]) =>
            decide(taken, groupRows, flowRows, {
              skips: new Map(skips.map((row) => [row.downstream_id, row.is_reached])),
              trees: endedTreesOf(lacks.trees, ended),
              locked: new Set(locked.map((row) => row.execution_id)),
              tried: new Set(lacks.locks),
            }),
          wholeFlow,
        )
  const written = await untilSent(sql, { again: false }, send)
  return resultOf(decided, written.flat(), batch)
}

type Taken = readonly TakenDispatch[]
type Groups = readonly GroupRow[]
type Flows = readonly FlowRow[]

interface Decided {
  readonly taken: Taken
  readonly resolution: Resolution
  readonly isCutShort: boolean
  /** Rows that are resolved in their flows, or that belong to no flow or to an older generation. */
  readonly done: readonly TakenDispatch[]
  /** The outermost flows, whose rows are written with every change of their trees. */
  readonly rootFlowIds: ReadonlySet<string>
  /** Read after all locks; any value when nothing was locked. */
  readonly now: number
}

function decideOn(taken: Taken, groupRows: Groups, flowRows: Flows, batch: number, extra: ExtraFacts): Decided {
  const rowOf = new Map(taken.map((row) => [row.ordinal, row]))
  const endings = new Map<number, MemberEnding>()
  const flows = new Map<string, FlowFact>()
  const subFlows = new Map(flowRows.flatMap((row) => (row.is_sub_flow ? [[row.ordinals[0]!, row.flow_id]] : [])))
  for (const row of flowRows) {
    flows.set(row.flow_id, flowOf(row))
    if (row.is_sub_flow) continue
    const skipped = new Set(row.skipped_by_failure)
    for (const ordinal of row.ordinals) {
      const subFlowId = subFlows.get(ordinal) ?? null
      endings.set(ordinal, endingOf(rowOf.get(ordinal)!, subFlowId, skipped.has(ordinal)))
    }
  }
  const edgeCount = groupRows.reduce((count, row) => count + row.edge_ids.length, 0)
  const isCutShort = edgeCount >= mostEdges(batch)
  const facts = {
    endings: [...endings.values()],
    closing: [],
    flows,
    isCutShort,
    extra,
    ...graphOf(groupRows, endings),
  }
  const resolution = resolveEndings(facts)
  const settled = new Set(resolution.settled)
  const isDone = (row: TakenDispatch) => {
    const ending = endings.get(row.ordinal)
    if (ending !== undefined) return settled.has(ending)
    return row.is_locked || row.root_flow_id === null
  }
  const live = taken.filter((row) => endings.has(row.ordinal))
  const rootFlowIds = new Set(live.map((row) => row.root_flow_id!))
  return { taken, resolution, isCutShort, done: taken.filter(isDone), rootFlowIds, now: flowRows[0]?.now_ms ?? 0 }
}

function endingOf(row: TakenDispatch, subFlowId: string | null, isSkippedByFailure: boolean): MemberEnding {
  const { execution_id: executionId, generation, outcome, flow_id: flowId, is_counted: isCounted } = row
  return { executionId, generation, outcome, flowId, subFlowId, isSkippedByFailure, isCounted }
}

function graphOf(rows: Groups, endings: ReadonlyMap<number, MemberEnding>): Pick<Facts, 'edges' | 'groups'> {
  const groups = new Map<string, GroupFact>()
  const edges: OpenEdge[] = []
  for (const row of rows) {
    const downstreamId = row.downstream_id
    for (const [place, edgeId] of row.edge_ids.entries()) {
      const kind = row.kinds[place] as StoredEdgeKind
      const upstream = endings.get(row.ordinals[place]!)
      const flowId = kind === 'start' ? upstream?.subFlowId : upstream?.flowId
      // Of a generation that is over, or of a nested flow that was deleted.
      if (upstream === undefined || flowId === undefined || flowId === null) continue
      edges.push({ edgeId, flowId, upstream, downstreamId, kind })
      if (!groups.has(downstreamId)) groups.set(downstreamId, groupOf(row, flowId))
    }
  }
  return { edges, groups }
}

function groupOf(row: GroupRow, flowId: string): GroupFact {
  return {
    downstreamId: row.downstream_id,
    flowId,
    quorum: row.quorum,
    cancelsRemaining: row.on_satisfied === 'cancel_remaining',
    state: row.state,
    total: row.total,
    satisfied: row.satisfied,
    failed: row.failed,
    skipped: row.skipped,
    isSealed: row.is_sealed,
    isBlocked: row.is_blocked === true,
    isLocked: row.is_locked,
    isFlow: row.is_flow === true,
    hasStarted: row.has_started === true,
  }
}

/** Only the writes that have rows: most sets have only the first three. */
function writesOf({ resolution, done, rootFlowIds, now }: Decided, isDuty: boolean): readonly Call[] {
  const { edges, groups, flows, released, started, ended, restated, cancelling } = resolution
  const changed = new Set(flows.map(({ flowId }) => flowId))
  const roots = [...rootFlowIds].filter((flowId) => !changed.has(flowId)).map(noChange)
  const ahead = flows.filter(({ hasEndedAhead }) => hasEndedAhead).map(({ flowId }) => flowId)
  const marked = flows.filter(({ marks }) => marks !== null).map(({ flowId }) => flowId)
  const by = { actor: dispatchDuty, cancelReason: 'member_ended', now }
  const endings = ended.map(({ executionId: uuid, outcome, reason, isByCancel }) => {
    return { uuid, outcome, reason, actor: isByCancel ? 'cancel_flow' : dispatchDuty, endedAt: now }
  })
  const calls: Call[] = []
  // Before the rows of this set are deleted.
  if (ahead.length > 0) calls.push(repeatEndedCall(ahead, now))
  if (done.length > 0 || edges.length > 0) calls.push(settleCall(edges, groups, done, now))
  if (changed.size > 0) calls.push(changeFlowsCall([...flows, ...roots], by))
  if (released.length > 0) calls.push(releaseMembersCall(released, now))
  if (started.length > 0) calls.push(startNestedCall(started, now))
  if (restated.size > 0) calls.push(restateCall(restated))
  if (endings.length > 0) calls.push(endCall(endings))
  if (cancelling.length + marked.length > 0) calls.push(cancelMembersCall(cancelling, marked, now))
  if (isDuty) {
    calls.push(
      releaseCall(
        dispatchDuty,
        done.map((row) => row.execution_id),
      ),
    )
  }
  return calls
}

/** The columns that the writes return; each write returns one. */
interface Written {
  readonly ready_queue_ids?: readonly number[]
  readonly shortest_delay_ms?: number | null
  readonly pending_dispatch?: number
  readonly backlogged?: number
}

function resultOf({ taken, resolution, isCutShort, done }: Decided, rows: readonly Written[], batch: number): Tried {
  const written = rows.reduce<Written>((all, row) => ({ ...all, ...row }), {})
  const { ready_queue_ids: readyQueueIds = [], shortest_delay_ms: delayMs = null, backlogged = 0 } = written
  const { flows, started, lackingFlowIds, heldFlowIds, lacks } = resolution
  // A set that resolved none of so many edges found their members locked: the next set would find the same.
  const hasMoreEdges = isCutShort && resolution.edges.length > 0
  const isFlowPending = hasMoreEdges || started.length > 0 || flows.some(({ hasEndedAhead }) => hasEndedAhead)
  // The processes that clear the rest of a row may have passed over it, because it was locked here.
  const isShared = done.some((row) => row.is_shared)
  const pending =
    (written.pending_dispatch ?? 0) |
    (isFlowPending ? pendingDispatch.flow : 0) |
    (isShared ? pendingDispatch.parent | pendingDispatch.children : 0) |
    (backlogged > 0 ? pendingDispatch.cancels : 0)
  const left = taken.filter((row) => row.is_locked && lackingFlowIds.has(row.flow_id))
  const endedFlowIds = flows.filter(({ endsAs }) => endsAs !== 'none').map(({ flowId }) => flowId)
  const dueInMs = delayMs === null ? {} : { delay: delayMs }
  return {
    seen: taken.length,
    done: done.length,
    oldestMs: taken.length === 0 ? null : Math.min(...taken.map((row) => row.created_at_ms)),
    effects: { readyQueueIds, dueInMs, pendingDispatch: pending, endedFlowIds },
    isFull: taken.length >= batch,
    lockedIds: [
      ...new Set([...taken.filter(isTreeLocked).map((row) => row.flow_id), ...(hasMoreEdges ? [] : heldFlowIds)]),
    ],
    lacking: { executionIds: [...new Set(left.map((row) => row.execution_id))], lacks },
  }
}

function isTreeLocked({ is_locked: isLocked, root_flow_id: rootFlowId }: TakenDispatch): boolean {
  return !isLocked && rootFlowId !== null
}

const moreFlows = { done: 0, effects: { pendingDispatch: pendingDispatch.flow }, lockedIds: [] }

/** A set, with the rows that were resolved again. */
function withRest(one: TakenSet, rest: Pick<TakenSet, 'done' | 'effects' | 'lockedIds'>): TakenSet {
  return {
    ...one,
    done: one.done + rest.done,
    effects: mergeEffects(one.effects, rest.effects),
    lockedIds: [...new Set([...one.lockedIds, ...rest.lockedIds])],
  }
}
