// The state that a flow must have once all owed work is done. It is computed anew from the known endings, member by member,
// without an order of events, counters or a queue. Where a join has fired and freed its member, the resolutions of its edges are
// final; everything else follows from how the members ended. Of the product it uses only the rules for one edge and one group.
// The outcome of a flow and the reasons of skips are derived here, each from its own walk over the edges.
import { groupState, resolveEdge, type EdgeKind, type EdgeResolution, type Ending } from '../../src/model/edge-group.ts'
import type { GroupState, JoinPolicy } from '../../src/model/edge-group.ts'

/** Names are unique in the whole tree. */
export interface ReferenceFlow {
  readonly name: string
  readonly members: readonly ReferenceMember[]
  readonly edges: readonly ReferenceEdge[]
  /** The join policies, by the downstream's name, for each member with inbound edges. */
  readonly policies: ReadonlyMap<string, JoinPolicy>
}

export interface ReferenceMember {
  readonly name: string
  /** The inner flow, of a member that stands for one. */
  readonly flow?: ReferenceFlow
}

export interface ReferenceEdge {
  readonly upstream: string
  readonly downstream: string
  readonly kind: EdgeKind
}

export type SkipReason = 'dependency_failed' | 'not_needed'

export type MemberState = Ending | 'ready' | 'blocked'

export interface ReferenceGroup {
  readonly state: GroupState
  readonly satisfied: number
  readonly failed: number
  readonly skipped: number
}

interface Place {
  readonly member: ReferenceMember
  readonly within: ReferenceFlow
  /** The flow that the member stands for. */
  readonly standing: string | null
}

export class FlowReference {
  readonly #places = new Map<string, Place>()
  /** How members ended that ran, or that were cancelled. */
  readonly #endings = new Map<string, Ending>()
  /** Members whose join has freed them before a replay, with the resolutions of its edges at that time. */
  readonly #letGo = new Map<string, ReadonlyMap<string, EdgeResolution>>()
  #states = new Map<string, MemberState>()
  #handled = new Map<string, boolean>()
  #reasons = new Map<string, SkipReason>()

  constructor(root: ReferenceFlow) {
    this.#place(root, null)
  }

  #place(within: ReferenceFlow, standing: string | null): void {
    for (const member of within.members) {
      this.#places.set(member.name, { member, within, standing })
      if (member.flow !== undefined) this.#place(member.flow, member.name)
    }
  }

  get names(): readonly string[] {
    return [...this.#places.keys()]
  }

  end(name: string, as: Ending): void {
    this.#endings.set(name, as)
    this.#forgetWork()
  }

  endingOf(name: string): Ending | undefined {
    return this.#endings.get(name)
  }

  /** It runs again; so does the member of each ended flow around it, unless that was skipped. */
  replay(name: string): void {
    const line = this.#lineOf(name)
    for (const each of this.#joined()) {
      if (this.groupOf(each)?.state === 'satisfied') this.#letGo.set(each, this.#resolutionsOf(each))
    }
    for (const each of line) this.#forget(each)
  }

  #lineOf(name: string): readonly string[] {
    const { standing, within } = this.#places.get(name)!
    const isOver = standing !== null && this.hasEnded(within) && this.stateOf(standing) !== 'skipped'
    return isOver ? [name, ...this.#lineOf(standing)] : [name]
  }

  #forgetWork(): void {
    this.#states = new Map()
    this.#handled = new Map()
    this.#reasons = new Map()
  }

  #forget(name: string): void {
    this.#endings.delete(name)
    this.#forgetWork()
  }

  stateOf(name: string): MemberState {
    const known = this.#states.get(name)
    if (known !== undefined) return known
    const state = this.#work(name)
    this.#states.set(name, state)
    return state
  }

  #work(name: string): MemberState {
    const ending = this.#endings.get(name)
    if (ending !== undefined) return ending
    const group = this.groupOf(name)
    if (group?.state === 'impossible') return 'skipped'
    const { flow } = this.#places.get(name)!.member
    if (group?.state === 'pending') return 'blocked'
    if (flow === undefined) return 'ready'
    return this.hasEnded(flow) ? this.outcomeOf(flow) : 'blocked'
  }

  hasEnded(flow: ReferenceFlow): boolean {
    return flow.members.every(({ name }) => isEnding(this.stateOf(name)))
  }

  /** The flow of this member; without one it is the outermost. */
  hasBegun(standing: string | null): boolean {
    return standing === null || this.#startOf(standing) !== null
  }

  /** Whether it is in a flow that has not started. */
  isAhead(name: string): boolean {
    return !this.hasBegun(this.#places.get(name)!.standing)
  }

  /** A flow fails when a member did, by itself or because it was cancelled, and no join handled that. */
  outcomeOf(flow: ReferenceFlow): 'success' | 'failed' {
    const isUnhandled = ({ name }: ReferenceMember) => isFailure(this.stateOf(name)) && !this.#isHandled(name)
    return flow.members.some(isUnhandled) ? 'failed' : 'success'
  }

  /** Whether some join was satisfied that it leads to, directly or through members that did not run. */
  #isHandled(name: string): boolean {
    const { within } = this.#places.get(name)!
    const onward = within.edges.filter((edge) => edge.upstream === name)
    return onward.some(({ downstream, kind }) => {
      if (this.groupOf(downstream)!.state !== 'satisfied')
        return known(this.#handled, downstream, (next) => this.#isHandled(next))
      if (resolveEdge(kind, this.stateOf(name) as Ending) === 'satisfied') return true
      const others = [...this.#resolutionsOf(downstream)].filter(([upstream]) => upstream !== name)
      return others.filter(([, resolution]) => resolution === 'satisfied').length >= neededBy(this.policyOf(downstream))
    })
  }

  skipReasonOf(name: string): SkipReason {
    return known(this.#reasons, name, () => (this.#isReached(name) ? 'dependency_failed' : 'not_needed'))
  }

  /**
   * Whether a failure skipped it: of a member whose success it needed, through a skipped one, or from around its flow.
   */
  #isReached(name: string): boolean {
    const { standing } = this.#places.get(name)!
    const isPassing = (skipped: string) => this.skipReasonOf(skipped) === 'dependency_failed'
    if (standing !== null && this.stateOf(standing) === 'skipped' && isPassing(standing)) return true
    return this.#inboundOf(name).some(({ upstream, kind }) => {
      const state = this.stateOf(upstream)
      if (state === 'skipped') return kind !== 'optional' && isPassing(upstream)
      return kind === 'success_only' && isFailure(state)
    })
  }

  /** The edge group of a member; null without inbound edges. */
  groupOf(name: string): ReferenceGroup | null {
    const resolutions = this.#resolutionsOf(name)
    const counts = { satisfied: 0, failed: 0, skipped: 0 }
    for (const resolution of resolutions.values()) counts[resolution] += 1
    const total = this.#inboundOf(name).length
    if (total === 0) return null
    if (this.#letGo.has(name)) return { ...counts, state: 'satisfied' }
    return { ...counts, state: groupState(this.policyOf(name), { ...counts, total, isSealed: true }) }
  }

  policyOf(name: string): JoinPolicy {
    return this.#places.get(name)!.within.policies.get(name) ?? { kind: 'all_of', onSatisfied: 'let_run' }
  }

  /** Upstreams that are cancelled when the joins that they lead to have fired. */
  isCancelledBySiblings(name: string): boolean {
    const { within } = this.#places.get(name)!
    const onward = within.edges.filter((edge) => edge.upstream === name)
    return onward.some(({ downstream }) => {
      const isEager = this.policyOf(downstream).onSatisfied === 'cancel_remaining'
      return isEager && this.groupOf(downstream)!.state !== 'pending'
    })
  }

  /** As above, had it not been cancelled. */
  mayBeCancelled(name: string): boolean {
    const ending = this.#endings.get(name)
    this.#forget(name)
    const isRight = this.isCancelledBySiblings(name)
    if (ending !== undefined) this.end(name, ending)
    return isRight
  }

  standsForFlow(name: string): boolean {
    return this.#places.get(name)!.member.flow !== undefined
  }

  /** Whether the flow that this member stands for was cancelled with it. */
  isCancelled(standing: string): boolean {
    return this.#endings.get(standing) === 'cancelled'
  }

  isWithinCancelled(name: string): boolean {
    const { standing } = this.#places.get(name)!
    return standing !== null && (this.isCancelled(standing) || this.isWithinCancelled(standing))
  }

  /** A flow around it was skipped, before one further out was cancelled. */
  isWithinSkipped(name: string): boolean {
    const { standing } = this.#places.get(name)!
    if (standing === null || this.isCancelled(standing)) return false
    return this.stateOf(standing) === 'skipped' || this.isWithinSkipped(standing)
  }

  /**
   * Whether its flow has ended; when that did not run, also those around it. Until then the reason of its skip may
   * change.
   */
  isSkippedForGood(name: string): boolean {
    const { within, standing } = this.#places.get(name)!
    if (!this.hasEnded(within) || !this.hasBegun(standing)) return false
    return standing === null || this.stateOf(standing) !== 'skipped' || this.isSkippedForGood(standing)
  }

  #joined(): readonly string[] {
    return this.names.filter((name) => this.#inboundOf(name).length > 0)
  }

  #resolutionsOf(name: string): ReadonlyMap<string, EdgeResolution> {
    const byUpstream = new Map(this.#letGo.get(name))
    for (const { upstream, kind } of this.#inboundOf(name)) {
      if (byUpstream.has(upstream)) continue
      const resolution = kind === 'start' ? this.#startOf(upstream) : this.#resolved(upstream, kind)
      if (resolution !== null) byUpstream.set(upstream, resolution)
    }
    return byUpstream
  }

  /** An edge within a flow is resolved when that has started; nothing in a skipped flow runs. */
  #resolved(upstream: string, kind: EdgeKind): EdgeResolution | null {
    const { standing } = this.#places.get(upstream)!
    const start = standing === null ? 'satisfied' : this.#startOf(standing)
    const state = this.stateOf(upstream)
    if (start === null || !isEnding(state)) return null
    const resolution = resolveEdge(kind, state)
    return start === 'skipped' && resolution === 'satisfied' ? 'skipped' : resolution
  }

  /** An inner flow waits until its member is freed. */
  #startOf(standing: string): EdgeResolution | null {
    const group = this.groupOf(standing)
    if (group === null || group.state === 'satisfied') return 'satisfied'
    const ending = this.#endings.get(standing)
    if (ending !== undefined) return resolveEdge('start', ending)
    return group.state === 'impossible' ? 'skipped' : null
  }

  #inboundOf(name: string): readonly { readonly upstream: string; readonly kind: EdgeKind | 'start' }[] {
    const { within, standing } = this.#places.get(name)!
    const inbound = within.edges.filter((edge) => edge.downstream === name)
    if (inbound.length > 0 || standing === null || this.#isFreeAtOnce(standing)) return inbound
    return [{ upstream: standing, kind: 'start' }]
  }

  #isFreeAtOnce(standing: string): boolean {
    return this.#inboundOf(standing).length === 0
  }
}

function isFailure(state: MemberState): boolean {
  return isEnding(state) && state !== 'success' && state !== 'skipped'
}

/** A join that needs all is never satisfied by the other edges. */
function neededBy(policy: JoinPolicy): number {
  if (policy.kind === 'all_of') return Infinity
  return policy.kind === 'any_of' ? 1 : policy.k
}

function known<T>(found: Map<string, T>, name: string, work: (name: string) => T): T {
  if (!found.has(name)) found.set(name, work(name))
  return found.get(name)!
}

export function isEnding(state: MemberState): state is Ending {
  return state !== 'ready' && state !== 'blocked'
}
