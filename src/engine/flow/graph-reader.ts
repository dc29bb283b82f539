// Reads a graph, flow by flow, into its rows, and counts its size. The first members of an inner flow wait for the
// start of the member that represents it, by an edge of its own kind; unless that member has no dependencies either:
// then the inner flow starts with the graph.
import { createHash } from 'node:crypto'
import { allOf, quorumOf, type JoinPolicy } from '../../model/edge-group.ts'
import { EngineError, refusal } from '../../model/errors.ts'
import { formatFlowId } from '../../model/id.ts'
import { limits } from '../../model/limits.ts'
import { refuseUnknownFields } from '../../model/shape.ts'
import { show } from '../../model/text.ts'
import { mintUuid } from '../../model/uuid.ts'
import type { Caller } from '../kernel/caller.ts'
import { checkCreateRequest, hashRequestedWork } from '../execution/create-request.ts'
import type { CheckedExecution } from '../transition/new-execution.ts'
import { checkFlowRequest, checkMemberName, type NewFlow } from './flow-request.ts'
import { readEdges, readGroups, type NumberedEdge } from './graph-edges.ts'
import { inField, tooFewEdges } from './graph-refusal.ts'
import {
  graphRequestFields,
  innerFlowFields,
  type FlowMember,
  type Graph,
  type GraphMember,
  type GraphRequest,
} from './graph-request.ts'
import type { NewEdge, NewGraph, NewGroup, NewMember } from './new-graph.ts'

export function checkGraphRequest(caller: Caller, request: GraphRequest): NewGraph {
  refuseUnknownFields('submitGraph', request, graphRequestFields)
  const { stayOpen = false } = request
  if (typeof stayOpen !== 'boolean') throw refusal('invalid_input', 'stayOpen', show(stayOpen), 'true or false')
  const root = checkFlowRequest(caller, request)
  const reader = new GraphReader(root)
  reader.read(request, root, outermost)
  return { ...reader.found(stayOpen), isClosed: !stayOpen }
}

interface GraphPlace {
  /** The path before the name of a field in an error. */
  readonly at: string
  readonly depth: number
  /** The first members of this flow wait for nothing. */
  readonly isStarted: boolean
}

const outermost: GraphPlace = { at: '', depth: 1, isStarted: true }

class GraphReader {
  readonly #root: NewFlow
  /** Of the request, without the ids that we mint: so a repeat is recognised. */
  readonly #hash = createHash('sha256')
  readonly #flows: NewFlow[] = []
  readonly #members: NewMember[] = []
  readonly #edges: NewEdge[] = []
  readonly #groups: NewGroup[] = []
  readonly #givenIds = new Set<string>()
  readonly #keys = new Set<string>()
  #bytes = 0

  constructor(root: NewFlow) {
    this.#root = root
  }

  found(stayOpen: boolean): Omit<NewGraph, 'isClosed'> {
    const requestHash = new Uint8Array(this.#hash.update(String(stayOpen)).digest())
    return { flows: this.#flows, members: this.#members, edges: this.#edges, groups: this.#groups, requestHash }
  }

  read(graph: Graph, flow: NewFlow, place: GraphPlace): void {
    const { at, isStarted } = place
    const members = checkList(`${at}members`, graph.members)
    const given = checkList(`${at}edges`, graph.edges ?? [])
    this.#refuseNoneOrTooMany(members.length, given.length, at)
    const numbers = numberMembers(members, at)
    const edges = readEdges(given, numbers, at)
    const policies = readGroups(checkList(`${at}groups`, graph.groups ?? []), numbers, at)
    this.#flows.push({ ...flow, isHeld: !isStarted, memberCount: members.length, edgeCount: edges.length })
    this.#note([flow.kind, flow.tags, members.length, edges.length, [...policies]])

    const inbound = new Uint32Array(members.length)
    for (const { to } of edges) inbound[to]! += 1
    const taken = members.map((member, number) => {
      const execution = this.#takeMember(member, flow, `${at}members[${number}]`)
      const subFlow = isFlowMember(member) ? innerFlow(member, execution, flow, `${at}members[${number}]`) : null
      const isHeld = !isStarted || inbound[number]! > 0
      this.#members.push({ flowUuid: flow.uuid, name: member.name, execution, subFlow, isHeld })
      return { uuid: execution.uuid, subFlow, isHeld }
    })
    for (const edge of edges) this.#takeEdge(edge, flow, taken[edge.from]!.uuid, taken[edge.to]!.uuid)
    taken.forEach(({ uuid: downstreamUuid }, number) => {
      const total = inbound[number]!
      const policy = checkPolicy(policies.get(number), members[number]!.name, total)
      if (total > 0) this.#groups.push({ flowUuid: flow.uuid, downstreamUuid, policy, total })
      else if (!isStarted) this.#holdBack(flow, downstreamUuid)
    })
    taken.forEach(({ subFlow, isHeld }, number) => {
      if (subFlow === null) return
      const inner = { at: `${at}members[${number}].flow.`, depth: place.depth + 1, isStarted: !isHeld }
      if (place.depth === limits.flowDepth) throw tooDeep(inner.at)
      this.read((members[number] as FlowMember).flow, subFlow, inner)
    })
  }

  #takeMember(member: GraphMember, flow: NewFlow, field: string): CheckedExecution {
    const { name, flow: inner, ...request } = member
    if (inner !== undefined) {
      refuseUnknownFields(field, request, [])
      refuseUnknownFields(`${field}.flow`, inner, innerFlowFields)
    }
    const asked = inner === undefined ? (request as typeof member) : { kind: inner.kind }
    const { namespace, actor } = this.#root
    const execution = inField(field, () => checkCreateRequest({ namespace, actor }, asked, flow.flowId))
    const { executionId, minted, payload, tags, policy, idempotencyKey } = execution
    this.#note([name, minted ? null : executionId, idempotencyKey, inner !== undefined])
    hashRequestedWork(this.#hash, execution)
    this.#refuseSecond(execution, flow, field)
    this.#count(payload?.byteLength ?? 0)
    if (tags !== null || policy !== null) this.#count(JSON.stringify([tags, policy]).length)
    return execution
  }

  #refuseSecond({ executionId, minted, idempotencyKey }: CheckedExecution, flow: NewFlow, field: string): void {
    if (!minted && this.#givenIds.has(executionId)) {
      const sentence = `${field} has the same id as an earlier member, ${executionId}; use another id`
      throw new EngineError('execution_id_taken', sentence, { executionId, field })
    }
    if (!minted) this.#givenIds.add(executionId)
    if (idempotencyKey === null) return
    const key = `${flow.uuid} ${idempotencyKey}`
    if (this.#keys.has(key)) {
      const sentence = `${field} has the same idempotency key as an earlier member, ${show(idempotencyKey)}; use another key`
      throw new EngineError('idempotency_conflict', sentence, { idempotencyKey, field })
    }
    this.#keys.add(key)
  }

  #takeEdge(edge: NumberedEdge, flow: NewFlow, upstreamUuid: string, downstreamUuid: string): void {
    const { from, to, edgeUuid, minted, kind, dataRef } = edge
    this.#note([from, to, minted ? null : edgeUuid, kind, dataRef])
    this.#edges.push({ flowUuid: flow.uuid, edgeUuid, upstreamUuid, downstreamUuid, kind, dataRef })
  }

  #holdBack({ uuid: flowUuid, memberUuid }: NewFlow, downstreamUuid: string): void {
    const edge = { edgeUuid: mintUuid(), upstreamUuid: memberUuid!, kind: 'start', dataRef: null } as const
    this.#edges.push({ flowUuid, downstreamUuid, ...edge })
    this.#groups.push({ flowUuid, downstreamUuid, policy: allOf, total: 1 })
  }

  #note(words: readonly unknown[]): void {
    const text = JSON.stringify(words)
    this.#hash.update(text)
    this.#count(text.length)
  }

  #count(bytes: number): void {
    this.#bytes += bytes
    if (this.#bytes <= limits.batchBodyBytes) return
    throw new EngineError(
      'payload_too_large',
      `the graph is larger than ${limits.batchBodyBytes} bytes; store large inputs elsewhere and send references`,
      { limit: limits.batchBodyBytes },
    )
  }

  #refuseNoneOrTooMany(memberCount: number, edgeCount: number, at: string): void {
    if (memberCount === 0) {
      throw refusal(
        'invalid_input',
        `${at}members`,
        'empty',
        'an array of at least one member; flows.create creates an empty flow',
      )
    }
    const members = this.#members.length + memberCount
    const edges = this.#edges.length + edgeCount
    const { flowMemberCount, flowEdgeCount } = limits
    if (members <= flowMemberCount && edges <= flowEdgeCount) return
    throw new EngineError(
      'too_many_items',
      `the graph has ${members} members and ${edges} edges; a flow has at most ${flowMemberCount} and ${flowEdgeCount}`,
      { members, edges, flowMemberCount, flowEdgeCount },
    )
  }
}

function numberMembers(members: readonly GraphMember[], at: string): ReadonlyMap<string, number> {
  const numbers = new Map<string, number>()
  members.forEach((member, number) => {
    const field = `${at}members[${number}]`
    if (typeof member !== 'object' || member === null) throw refusal('invalid_input', field, show(member), 'an object')
    const name = checkMemberName(`${field}.name`, member.name)
    const first = numbers.get(name)
    if (first !== undefined) {
      const sentence = `${at}members[${first}] and ${field} are both named ${show(name)}; use different names`
      throw new EngineError('member_name_taken', sentence, { field, name })
    }
    numbers.set(name, number)
  })
  return numbers
}

function isFlowMember(member: GraphMember): member is FlowMember {
  return member.flow !== undefined
}

function innerFlow({ flow }: FlowMember, execution: CheckedExecution, outer: NewFlow, field: string): NewFlow {
  const { partition, namespace, creator, actor, rootUuid } = outer
  const request = { flowId: formatFlowId(partition, mintUuid()), kind: flow.kind, tags: flow.tags ?? {}, creator }
  const checked = inField(`${field}.flow`, () => checkFlowRequest({ namespace, actor }, request))
  return { ...checked, rootUuid, memberUuid: execution.uuid }
}

function checkPolicy(policy: JoinPolicy | undefined, name: string, total: number): JoinPolicy {
  if (policy === undefined) return allOf
  const needed = quorumOf(policy) ?? 1
  if (needed > total) throw tooFewEdges(name, needed, total)
  return policy
}

function tooDeep(at: string): EngineError {
  const sentence = `${at}members is nested too deep; flows can be nested at most ${limits.flowDepth} levels deep`
  return new EngineError('invalid_input', sentence, { field: `${at}members`, limit: limits.flowDepth })
}

function checkList<T>(field: string, value: readonly T[]): readonly T[] {
  // A hole is read as undefined, and refused.
  if (Array.isArray(value)) return Array.from(value as readonly T[])
  throw refusal('invalid_input', field, show(value), 'an array')
}
