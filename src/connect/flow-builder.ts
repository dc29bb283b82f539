// The graph of a flow, built by a function before anything is sent: members, edges, inner flows.
import type { CreateRequest } from '../engine/execution/create-request.ts'
import type { Graph, GraphEdge, GraphGroup, GraphMember, InnerFlow } from '../engine/flow/graph-request.ts'
import { parseEdgeKind, parseJoinPolicy, type EdgeKind, type JoinPolicyInput } from '../model/edge-group.ts'
import { EngineError, refusal } from '../model/errors.ts'
import { refuseUnknownFields } from '../model/shape.ts'
import { show } from '../model/text.ts'
import { encodeValue, type Codec } from '../model/codec.ts'
import { defined, requestOf, submitOptionNames } from '../worker/submission.ts'
import { isTask, type Task } from '../worker/task.ts'

/** A member of the flow under construction. `Out` is the type of its result. */
export class MemberRef<out Out = unknown> {
  readonly name: string
  /** Only a type: this field does not exist at run time. */
  declare readonly output?: Out
  /** The builder that it belongs to. */
  readonly #builder: FlowBuilder

  constructor(name: string, builder: FlowBuilder) {
    this.name = name
    this.#builder = builder
  }

  static isOf(value: unknown, builder: FlowBuilder): value is MemberRef {
    return value instanceof MemberRef && value.#builder === builder
  }

  static builderOf(ref: MemberRef): FlowBuilder {
    return ref.#builder
  }
}

/** How a member depends on another: on its success, unless `kind` sets another condition. */
export interface Dependency {
  readonly on: MemberRef
  readonly kind?: EdgeKind
  /** The name under which the result is read; defaults to the name of the member. */
  readonly name?: string
  readonly edgeId?: string
}

export interface MemberOptions extends Omit<
  CreateRequest,
  'kind' | 'namespace' | 'input' | 'payload' | 'payloadEncoding' | 'parentId' | 'onParentEnd'
> {
  /** Unique in its flow; defaults to the kind, with a number from the second one on. */
  readonly name?: string
}

// The flow sets these for its members.
const ownOfFlow: readonly string[] = ['namespace', 'parentId', 'onParentEnd']
const memberOptionNames = ['name', ...submitOptionNames.filter((name) => !ownOfFlow.includes(name))]

export interface InnerFlowOptions extends Partial<Pick<InnerFlow, 'kind' | 'tags'>> {}

/** Builds a flow. If it returns a member, the result of that member is the result of the flow. */
// oxlint-disable-next-line typescript/no-invalid-void-type
export type BuildFlow<Out = unknown> = (flow: FlowBuilder) => MemberRef<Out> | void

type MemberArguments<In> = undefined extends In
  ? [input?: In, options?: MemberOptions]
  : [input: In, options?: MemberOptions]

type AddableTask = Task<never>
type InputOf<Added> = Added extends Task<infer In> ? In : unknown
type OutputOf<Added> = Added extends Task<never, infer Out> ? Out : unknown

export const defaultFlowKind = 'flow'

/** The graph that a function has built. */
export interface BuiltFlow {
  readonly graph: Graph
  /** The member that it returned. */
  readonly last: MemberRef | null
  readonly builder: FlowBuilder
}

export class FlowBuilder {
  readonly #codec: Codec
  readonly #members: Promise<GraphMember>[] = []
  /** By the name of the member that represents each. */
  readonly #inner = new Map<string, FlowBuilder>()
  readonly #edges: GraphEdge[] = []
  /** By downstream. */
  readonly #groups = new Map<string, GraphGroup>()
  readonly #names = new Set<string>()
  /** By kind: the number from which on names may be free. */
  readonly #numbers = new Map<string, number>()
  #isDone = false

  constructor(codec: Codec) {
    this.#codec = codec
  }

  /** Calls `build` and checks every input against the schema of its task. */
  static async build(build: BuildFlow, codec: Codec): Promise<BuiltFlow> {
    const builder = new FlowBuilder(codec)
    const last = builder.#write(build)
    return { graph: await builder.#graph(), last, builder }
  }

  #write(build: BuildFlow): MemberRef | null {
    if (typeof build !== 'function')
      throw refusal('invalid_input', 'what writes a flow down', show(build), 'a function')
    const answer: unknown = build(this)
    this.#isDone = true
    if (answer instanceof Promise) {
      answer.catch(() => {})
      throw new EngineError(
        'invalid_input',
        'the function that builds a flow is not awaited; read what it needs before',
      )
    }
    return answer instanceof MemberRef ? answer : null
  }

  async #graph(): Promise<Graph> {
    return { members: await Promise.all(this.#members), edges: this.#edges, groups: [...this.#groups.values()] }
  }

  /** The inner flow, by the name of the member that represents it. */
  innerOf(name: string): FlowBuilder | undefined {
    return this.#inner.get(name)
  }

  /** Adds a member: a run of this task, or an execution of this kind, with this input. */
  // One signature: with two, the compiler would report the wrong one.
  add<Added extends AddableTask | string>(
    what: Added,
    ...given: MemberArguments<InputOf<Added>>
  ): MemberRef<OutputOf<Added>>
  add(what: AddableTask | string, input?: unknown, options: MemberOptions = {}): MemberRef {
    if (!isTask(what) && typeof what !== 'string') {
      throw refusal('invalid_input', 'what f.add takes', show(what), 'a task, or the name of a kind')
    }
    refuseUnknownFields('f.add', options, memberOptionNames)
    const kind = isTask(what) ? what.name : what
    const { name = this.#freeName(kind), ...rest } = options
    if (!isTask(what))
      return this.#take(name, Promise.resolve({ ...defined(rest), name, kind, ...this.#payloadOf(kind, input) }))
    const request = requestOf(this.#codec, what, input, rest)
    return this.#take(
      name,
      request.then((made) => ({ ...made, name })),
    )
  }

  /** Adds a member that is a flow itself: it starts when its dependencies are satisfied, and ends as that flow does. */
  flow(name: string, build: BuildFlow, options: InnerFlowOptions = {}): MemberRef {
    refuseUnknownFields(`the flow ${show(name)}`, options, ['kind', 'tags'])
    const inner = new FlowBuilder(this.#codec)
    inner.#write(build)
    this.#inner.set(name, inner)
    return this.#take(
      name,
      inner.#graph().then((written) => ({ name, flow: { kind: defaultFlowKind, ...defined(options), ...written } })),
    )
  }

  /**
   * Makes the member wait for the others: for all of them, or for as many as the policy requires. Returns the member.
   */
  after<Out>(
    upstreams: MemberRef | Dependency | readonly (MemberRef | Dependency)[],
    downstream: MemberRef<Out>,
    policy?: JoinPolicyInput,
  ): MemberRef<Out> {
    this.#refuseWhenDone()
    const to = this.#nameOf('the downstream', downstream)
    for (const upstream of listOf(upstreams)) this.#edges.push(this.#edgeFrom(upstream, to))
    if (policy !== undefined) this.#join(to, policy)
    return downstream
  }

  #join(downstream: string, policy: JoinPolicyInput): void {
    parseJoinPolicy('policy', policy)
    if (this.#groups.has(downstream)) {
      const sentence = `${show(downstream)} has a policy from an f.after before; all that it waits for is one group, so give the policy once`
      throw new EngineError('invalid_input', sentence, { member: downstream })
    }
    this.#groups.set(downstream, { downstream, policy })
  }

  #take<Out>(name: string, member: Promise<GraphMember>): MemberRef<Out> {
    // The function that builds may throw before this promise is awaited.
    member.catch(() => {})
    this.#refuseWhenDone()
    this.#names.add(name)
    this.#members.push(member)
    return new MemberRef<Out>(name, this)
  }

  #edgeFrom(upstream: MemberRef | Dependency, downstream: string): GraphEdge {
    const isPlain = typeof upstream === 'object' && upstream !== null && !(upstream instanceof MemberRef)
    if (!isPlain) return { upstream: this.#nameOf('an upstream', upstream), downstream }
    refuseUnknownFields('after', upstream, ['on', 'kind', 'name', 'edgeId'])
    const { on, kind, name, edgeId } = upstream
    return {
      upstream: this.#nameOf('an upstream', on),
      downstream,
      ...(kind !== undefined && { kind: parseEdgeKind('kind', kind) }),
      ...(name !== undefined && { dataRef: name }),
      ...(edgeId !== undefined && { edgeId }),
    }
  }

  #nameOf(which: string, member: unknown): string {
    if (MemberRef.isOf(member, this)) return member.name
    const found = member instanceof MemberRef ? `${show(member.name)} of another flow` : show(member)
    throw refusal('invalid_dependency', which, found, 'a member that this flow gave out')
  }

  #payloadOf(kind: string, input: unknown): Pick<CreateRequest, 'payload' | 'payloadEncoding'> {
    const encoded = encodeValue(this.#codec, `the input of ${show(kind)}`, input)
    return encoded === null ? {} : { payload: encoded.bytes, payloadEncoding: encoded.encoding }
  }

  #freeName(kind: string): string {
    if (!this.#names.has(kind)) return kind
    let number = this.#numbers.get(kind) ?? 2
    while (this.#names.has(`${kind}-${number}`)) number += 1
    this.#numbers.set(kind, number)
    return `${kind}-${number}`
  }

  #refuseWhenDone(): void {
    if (!this.#isDone) return
    throw new EngineError('invalid_input', 'the flow has been submitted; flows.addMember and flows.connect change it')
  }
}

function listOf<T>(value: T | readonly T[]): readonly T[] {
  return Array.isArray(value) ? (value as readonly T[]) : [value as T]
}
