// A flow in a test: members whose kind is their name, so each can be claimed by it; edges as `a > b` or `a > b optional`.
import { expect } from 'vitest'
import type { Engine } from '../../../src/engine/contract.ts'
import type { Claim } from '../../../src/engine/execution/claim.ts'
import type { GraphEdge, GraphMember, GraphRequest } from '../../../src/engine/flow/graph-request.ts'
import type { EdgeKind, JoinPolicyInput } from '../../../src/model/edge-group.ts'
import { parseExecutionId, parseFlowId, type ExecutionId, type FlowId } from '../../../src/model/id.ts'
import type { Row } from '../../support/raw.ts'
import type { Fixture } from '../../support/setup.ts'
import { fenceOf, take } from '../execution/holder.ts'
import * as stored from '../../support/stored.ts'
import { membersOfFlow } from '../../support/reads.ts'

export interface Shape {
  readonly edges?: readonly string[]
  /** Members besides those that the edges name. */
  readonly members?: readonly (string | GraphMember)[]
  readonly groups?: Readonly<Record<string, JoinPolicyInput>>
}

type Ending = 'completed' | 'failed' | 'cancelled'

export class Walk {
  readonly #fixture: Fixture
  readonly flowId: FlowId
  readonly members: Readonly<Record<string, ExecutionId>>
  readonly inner: Readonly<Record<string, Walk>>

  constructor(fixture: Fixture, { flowId, members, innerFlows }: Submitted) {
    this.#fixture = fixture
    this.flowId = flowId
    this.members = members
    this.inner = Object.fromEntries(Object.entries(innerFlows).map(([name, flow]) => [name, new Walk(fixture, flow)]))
  }

  get uuid(): string {
    return parseFlowId(this.flowId).uuid
  }

  id(name: string): ExecutionId {
    return this.members[name]!
  }

  uuidOf(name: string): string {
    return parseExecutionId(this.id(name)).uuid
  }

  /** A worker claims it; it must be claimable. */
  async take(name: string): Promise<Claim> {
    const claim = await take(this.#fixture.engine, { kinds: [name], leaseTtl: '1h' })
    expect(claim.executionId).toBe(this.id(name))
    return claim
  }

  /** Ends the member so, and runs the work that the ending owes. */
  async end(name: string, as: Ending = 'completed'): Promise<void> {
    const { executions } = this.#fixture.engine
    if (as === 'cancelled') await executions.cancel({ executionId: this.id(name) })
    else await this.endTaken(await this.take(name), as)
    await this.#fixture.dispatched()
  }

  async endTaken(claim: Claim, as: Exclude<Ending, 'cancelled'> = 'completed'): Promise<void> {
    const { executions } = this.#fixture.engine
    if (as === 'completed') await executions.complete(fenceOf(claim))
    else await executions.fail({ ...fenceOf(claim), reason: 'broke', permanent: true })
  }

  /** The states of the members, by name. */
  async states(): Promise<Record<string, unknown>> {
    const found = await membersOfFlow(this.#fixture.sql, this.uuid)
    return Object.fromEntries(found.map((row) => [String(row['member_name']), row['public_state']]))
  }

  async row(): Promise<Row> {
    return stored.flows.one(this.#fixture.sql, { flow_id: this.uuid })
  }

  async group(name: string): Promise<Row> {
    return stored.edgeGroups.one(this.#fixture.sql, { downstream_id: this.uuidOf(name) })
  }

  async why(name: string): Promise<unknown> {
    const row = await stored.executions.one(this.#fixture.sql, { execution_id: this.uuidOf(name) })
    return row.failure_reason ?? row.cancellation_reason
  }
}

interface Submitted {
  readonly flowId: FlowId
  readonly members: Readonly<Record<string, ExecutionId>>
  readonly innerFlows: Readonly<Record<string, Submitted>>
}

export async function walk(fixture: Fixture, shape: Shape, request: Partial<GraphRequest> = {}): Promise<Walk> {
  return new Walk(fixture, await submit(fixture.engine, shape, request))
}

export function submit(engine: Engine, shape: Shape, request: Partial<GraphRequest> = {}): Promise<Submitted> {
  return engine.flows.submitGraph({ kind: 'pipeline', ...graphOf(shape), ...request })
}

export function graphOf({ edges = [], members = [], groups = {} }: Shape) {
  const parsed = edges.map(edgeOf)
  const given = members.map((member) => (typeof member === 'string' ? { name: member, kind: member } : member))
  const names = new Set(parsed.flatMap(({ upstream, downstream }) => [upstream, downstream]))
  for (const { name } of given) names.delete(name)
  return {
    members: [...given, ...[...names].map((name) => ({ name, kind: name }))],
    edges: parsed,
    groups: Object.entries(groups).map(([downstream, policy]) => ({ downstream, policy })),
  }
}

function edgeOf(text: string): GraphEdge {
  const [upstream, , downstream, kind] = text.split(' ')
  return { upstream: upstream!, downstream: downstream!, ...(kind !== undefined && { kind: kind as EdgeKind }) }
}
