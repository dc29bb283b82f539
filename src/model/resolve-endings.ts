// What the endings of members do to their flows, one hop at a time: their edges are resolved, groups fire, members are released or
// skipped, flows are counted and end. The order in which endings are resolved changes no result.
//
// The decision names what it lacks: facts that only few sets need, and locks on executions that it did not expect to write. What
// depends on these stays as it is, and the caller repeats it with more facts. What another transaction holds stays too.
import type {
  CancelPolicy,
  Facts,
  FlowFact,
  GroupFact,
  Lacks,
  MemberEnding,
  OpenEdge,
  Representative,
} from './ending-facts.ts'
import { changedReasons, flowOutcome, type SkipReason } from './flow-ending.ts'
import { resolveEdge, stateByQuorum, type EdgeResolution, type Ending, type GroupState } from './edge-group.ts'
import type { TerminalOutcome } from './state.ts'

export interface ResolvedEdge {
  readonly edge: OpenEdge
  readonly resolution: EdgeResolution
}

export interface ResolvedGroup {
  readonly fact: GroupFact
  readonly satisfied: number
  readonly failed: number
  readonly skipped: number
  readonly state: GroupState
  readonly isFired: boolean
  /** The downstream member ends with its cancelled flow, or with a flow that never starts. */
  readonly isCancelled: boolean
  /** A failure is known to reach the downstream member. */
  readonly isReached: boolean
}

export interface EndedMember {
  readonly executionId: string
  readonly outcome: Ending
  readonly reason: string | null
  /** A cancelled flow ended it. */
  readonly isByCancel: boolean
}

export type OutcomeCounts = Readonly<Record<Ending, number>>

export interface FlowChange {
  readonly flowId: string
  readonly counts: OutcomeCounts
  readonly closes: boolean
  readonly begins: boolean
  /** The flow is cancelled, and how. */
  readonly marks: CancelPolicy | null
  /** `none`: it does not end now. */
  readonly endsAs: TerminalOutcome
  /** Members that ended before the flow began: their edges are resolved from now on. */
  readonly hasEndedAhead: boolean
}

export interface Resolution {
  readonly edges: readonly ResolvedEdge[]
  readonly groups: readonly ResolvedGroup[]
  readonly released: readonly string[]
  /** Members whose nested flows start. */
  readonly started: readonly string[]
  readonly ended: readonly EndedMember[]
  readonly flows: readonly FlowChange[]
  /** Groups that fired and whose other upstream members are cancelled. */
  readonly cancelling: readonly ResolvedGroup[]
  /** Skipped members whose reason has changed. */
  readonly restated: ReadonlyMap<string, SkipReason>
  readonly settled: readonly MemberEnding[]
  /** These flows are complete with more facts. */
  readonly lackingFlowIds: ReadonlySet<string>
  /** For these flows, another transaction holds a member that this decision ends or releases. */
  readonly heldFlowIds: ReadonlySet<string>
  readonly lacks: Lacks
}

/**
 * A decision requests the trees of one flow, and of others while their members are no more than these in all. Each tree is read whole,
 * with its edges, and a set of endings may end hundreds of large flows.
 */
const mostTreeMembers = 20_000

export function resolveEndings(facts: Facts): Resolution {
  return new Decision(facts).make()
}

class Decision {
  readonly #facts: Facts
  readonly #released: string[] = []
  readonly #started: string[] = []
  readonly #ended = new Map<string, EndedMember>()
  /** Downstream members on which this decision cannot act. */
  readonly #stuck = new Set<string>()
  readonly #lackingFlowIds = new Set<string>()
  readonly #heldFlowIds = new Set<string>()
  readonly #restated = new Map<string, SkipReason>()
  readonly #lacks = { skips: [] as string[], trees: [] as string[], locks: [] as string[] }
  #treeMembers = 0

  constructor(facts: Facts) {
    this.#facts = facts
  }

  make(): Resolution {
    const { endings, isCutShort } = this.#facts
    const begun = new Set(endings.flatMap(({ subFlowId }) => subFlowId ?? []))
    const edges = this.#facts.edges
      .filter(({ kind, flowId }) => kind === 'start' || !this.#flow(flowId).isHeld || begun.has(flowId))
      .map((edge) => ({ edge, resolution: this.#resolve(edge) }))
    const groups = this.#groupsAfter(edges)
    const acts = groups.filter((group) => group.isFired && group.fact.isBlocked && !group.isCancelled)
    const lackingDownstreams = new Set(acts.filter((group) => !this.#act(group)).map(({ fact }) => fact.downstreamId))
    for (const { edge } of edges) {
      if (lackingDownstreams.has(edge.downstreamId)) this.#lackingFlowIds.add(edge.upstream.flowId)
      else if (this.#stuck.has(edge.downstreamId)) this.#heldFlowIds.add(edge.upstream.flowId)
    }
    const isLeft = (flowId: string) => this.#lackingFlowIds.has(flowId) || this.#heldFlowIds.has(flowId)
    const cutShort = new Set(isCutShort ? endings.map(({ flowId }) => flowId) : [])
    const flows = [...this.#changes()].map((change) => {
      const { flowId } = change
      if (cutShort.has(flowId) || isLeft(flowId)) return without(change)
      return this.#end(change)
    })
    const isWritten = (downstreamId: string) => !this.#stuck.has(downstreamId)
    const written = groups.filter(({ fact }) => isWritten(fact.downstreamId))
    return {
      edges: edges.filter(({ edge }) => isWritten(edge.downstreamId)),
      groups: written,
      released: this.#released.filter((id) => !this.#ended.has(id)),
      started: this.#started.filter((id) => !this.#ended.has(id)),
      ended: [...this.#ended.values()],
      flows,
      cancelling: written.filter(cancelsOthers),
      restated: this.#restated,
      settled: endings.filter(({ flowId }) => !cutShort.has(flowId) && !isLeft(flowId)),
      lackingFlowIds: this.#lackingFlowIds,
      heldFlowIds: this.#heldFlowIds,
      lacks: this.#lacks,
    }
  }

  #flow(flowId: string): FlowFact {
    return this.#facts.flows.get(flowId)!
  }

  /** Nothing runs in a flow whose representative was skipped, whatever its edges accept. */
  #resolve({ kind, upstream }: OpenEdge): EdgeResolution {
    const resolution = resolveEdge(kind, upstream.outcome)
    if (kind === 'start' || resolution !== 'satisfied') return resolution
    return this.#flow(upstream.flowId).representative?.outcome === 'skipped' ? 'skipped' : 'satisfied'
  }

  #groupsAfter(edges: readonly ResolvedEdge[]): ResolvedGroup[] {
    const gains = new Map<string, Gain>()
    for (const { edge, resolution } of edges) {
      let gain = gains.get(edge.downstreamId)
      if (gain === undefined) {
        gain = { satisfied: 0, failed: 0, skipped: 0, isAbandoned: false, isReached: false }
        gains.set(edge.downstreamId, gain)
      }
      gain[resolution] += 1
      gain.isReached ||= edge.kind !== 'optional' && edge.upstream.isSkippedByFailure
      gain.isAbandoned ||= edge.kind === 'start' && endsWithoutStart(edge.upstream.outcome)
    }
    return [...gains].map(([downstreamId, gain]) => {
      const fact = this.#facts.groups.get(downstreamId)!
      const counts = {
        satisfied: fact.satisfied + gain.satisfied,
        failed: fact.failed + gain.failed,
        skipped: fact.skipped + gain.skipped,
      }
      const { total, isSealed } = fact
      const state = fact.state === 'pending' ? stateByQuorum(fact.quorum, { ...counts, total, isSealed }) : fact.state
      const isFired = fact.state === 'pending' && state !== 'pending'
      const goesWithFlow = endsWithFlow(this.#flow(fact.flowId).cancelPolicy, fact.hasStarted)
      const isReached = counts.failed > 0 || gain.isReached
      return { fact, ...counts, state, isFired, isCancelled: gain.isAbandoned || goesWithFlow, isReached }
    })
  }

  /** Whether it needs no more facts. */
  #act(group: ResolvedGroup): boolean {
    const { downstreamId, isFlow, isLocked } = group.fact
    const reason = group.state === 'impossible' ? this.#skipReason(group) : null
    if (!isLocked || reason === undefined) {
      this.#stuck.add(downstreamId)
      return reason !== undefined
    }
    if (reason !== null)
      this.#ended.set(downstreamId, { executionId: downstreamId, outcome: 'skipped', reason, isByCancel: false })
    else if (isFlow) this.#started.push(downstreamId)
    else this.#released.push(downstreamId)
    return true
  }

  /** A failure reaches a member through the members that it skipped, and into a flow that it skipped. */
  #skipReason({ fact, isReached }: ResolvedGroup): SkipReason | undefined {
    if (isReached || isSkippedByFailure(this.#flow(fact.flowId).representative)) return 'dependency_failed'
    const isReachedBefore = this.#facts.extra.skips.get(fact.downstreamId)
    if (isReachedBefore === undefined) {
      this.#lacks.skips.push(fact.downstreamId)
      return undefined
    }
    return isReachedBefore ? 'dependency_failed' : 'not_needed'
  }

  #changes(): Iterable<FlowChange> {
    const changes = new Map<string, Writable<FlowChange>>()
    const changeOf = (flowId: string) => {
      let change = changes.get(flowId)
      if (change === undefined) {
        change = noChange(flowId)
        changes.set(flowId, change)
      }
      return change
    }
    for (const { flowId, outcome, subFlowId, isCounted } of this.#facts.endings) {
      const { counts } = changeOf(flowId)
      if (outcome !== 'none' && !isCounted) (counts as Record<Ending, number>)[outcome] += 1
      if (subFlowId === null || !this.#facts.flows.has(subFlowId)) continue
      const nested = changeOf(subFlowId)
      nested.closes ||= outcome !== 'none'
      nested.begins = true
      if (endsWithoutStart(outcome)) nested.marks = 'cancel_all'
    }
    for (const flowId of this.#facts.closing) changeOf(flowId).closes = true
    for (const change of changes.values()) {
      const flow = this.#flow(change.flowId)
      change.hasEndedAhead = flow.isHeld && change.begins && flow.endedCount + sumOf(change.counts) > 0
      if (!isMarkedBy(flow, change.marks)) change.marks = null
    }
    return changes.values()
  }

  #end(change: FlowChange): FlowChange {
    const flow = this.#flow(change.flowId)
    if (!endsNow(flow, change)) return change
    const endsAs = this.#outcomeOf(flow, change)
    if (endsAs === undefined) {
      this.#lackingFlowIds.add(flow.flowId)
      return without(change)
    }
    const { representative } = flow
    const isLast = representative !== null && representative.outcome === 'none'
    const needed = [...this.#restatedBy(flow).keys(), ...(isLast ? [representative.executionId] : [])]
    if (!this.#hasLocks(flow.flowId, needed)) return without(change)
    for (const [id, reason] of this.#restatedBy(flow)) this.#restated.set(id, reason)
    if (isLast) this.#ended.set(representative.executionId, endedWithFlow(representative.executionId, endsAs))
    return { ...change, endsAs }
  }

  #outcomeOf(flow: FlowFact, { counts, marks }: FlowChange): Ending | undefined {
    if (flow.cancelPolicy !== null || marks !== null) return 'cancelled'
    if (flow.successCount + counts.success === flow.memberCount) return 'success'
    const tree = this.#facts.extra.trees.get(flow.flowId)
    if (tree !== undefined) return flowOutcome(tree.flow)
    this.#treeMembers += flow.memberCount
    if (this.#lacks.trees.length === 0 || this.#treeMembers <= mostTreeMembers) this.#lacks.trees.push(flow.flowId)
    return undefined
  }

  #restatedBy(flow: FlowFact): ReadonlyMap<string, SkipReason> {
    const tree = this.#facts.extra.trees.get(flow.flowId)
    return tree === undefined ? new Map() : changedReasons(tree, isSkippedByFailure(flow.representative))
  }

  #hasLocks(flowId: string, ids: readonly string[]): boolean {
    const { locked, tried } = this.#facts.extra
    const isLocked = (id: string) => locked.has(id) || this.#facts.groups.get(id)?.isLocked === true
    const missing = ids.filter((id) => !isLocked(id))
    if (missing.length === 0) return true
    const untried = missing.filter((id) => !tried.has(id))
    this.#lacks.locks.push(...untried)
    if (untried.length > 0) this.#lackingFlowIds.add(flowId)
    else this.#heldFlowIds.add(flowId)
    return false
  }
}

interface Gain {
  satisfied: number
  failed: number
  skipped: number
  isAbandoned: boolean
  isReached: boolean
}

type Writable<T> = { -readonly [K in keyof T]: T[K] }

export function noChange(flowId: string): Writable<FlowChange> {
  const counts = { success: 0, failed: 0, cancelled: 0, expired: 0, skipped: 0 }
  return { flowId, counts, closes: false, begins: false, marks: null, endsAs: 'none', hasEndedAhead: false }
}

/** Its endings stay to be counted. */
function without(change: FlowChange): FlowChange {
  return { ...change, counts: noChange(change.flowId).counts, endsAs: 'none' }
}

function sumOf({ success, failed, cancelled, expired, skipped }: OutcomeCounts): number {
  return success + failed + cancelled + expired + skipped
}

/** The representative of a nested flow ended before that flow began: the flow is cancelled with it. */
function endsWithoutStart(outcome: TerminalOutcome): boolean {
  return outcome !== 'none' && outcome !== 'skipped'
}

function isMarkedBy({ hasEnded, cancelPolicy }: FlowFact, marks: CancelPolicy | null): boolean {
  if (hasEnded || marks === null) return false
  return cancelPolicy === null || (marks === 'cancel_all' && cancelPolicy !== 'cancel_all')
}

function endsNow(flow: FlowFact, change: FlowChange): boolean {
  const isComplete = flow.endedCount + sumOf(change.counts) === flow.memberCount
  const hasBegun = !flow.isHeld || change.begins || flow.cancelPolicy !== null || change.marks !== null
  return !flow.hasEnded && (flow.isClosed || change.closes) && isComplete && hasBegun
}

/** Whether a member ends with its cancelled flow. */
function endsWithFlow(policy: CancelPolicy | null, hasStarted: boolean): boolean {
  return policy === 'cancel_all' || (policy === 'cancel_pending' && !hasStarted)
}

function isSkippedByFailure(representative: Representative | null): boolean {
  return representative?.outcome === 'skipped' && representative.reason === 'dependency_failed'
}

/** Where every edge is resolved, no upstream is left to cancel. */
function cancelsOthers({ fact, isFired, isCancelled, satisfied, failed, skipped }: ResolvedGroup): boolean {
  const isOpen = satisfied + failed + skipped < fact.total
  return isFired && fact.cancelsRemaining && !isCancelled && isOpen
}

function endedWithFlow(executionId: string, outcome: Ending): EndedMember {
  const isByCancel = outcome === 'cancelled'
  const reason = isByCancel ? 'flow_cancelled' : outcome === 'failed' ? 'flow_failed' : null
  return { executionId, outcome, reason, isByCancel }
}
