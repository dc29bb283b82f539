// A flow as a user handles it: submitted as a whole by a function that builds its graph, then awaited, read, cancelled.
import type { Engine } from '../engine/contract.ts'
import type { CancelFlowRequest, CancelFlowResult } from '../engine/flow/cancel.ts'
import type { FlowRequest } from '../engine/flow/flow-request.ts'
import type { FlowDetail } from '../engine/flow/describe.ts'
import type { FlowGraph, FlowGraphRequest } from '../engine/flow/graph.ts'
import type { FlowState } from '../engine/flow/snapshot.ts'
import type { SubmittedFlow, SubmittedGraph } from '../engine/flow/submit-graph.ts'
import type { WaitForFlowRequest } from '../engine/flow/wait.ts'
import { EngineError, refusal } from '../model/errors.ts'
import type { ExecutionId, FlowId } from '../model/id.ts'
import { refuseUnknownFields } from '../model/shape.ts'
import type { Codec } from '../model/codec.ts'
import { show } from '../model/text.ts'
import { defined } from '../worker/submission.ts'
import { defaultFlowKind, FlowBuilder, MemberRef, type BuildFlow, type BuiltFlow } from './flow-builder.ts'
import { handleOf as executionHandle, type Handle, type ResultOptions } from './handle.ts'

export interface FlowOptions extends Partial<FlowRequest> {
  /** The flow accepts more members and edges until `flows.close`. */
  readonly stayOpen?: boolean
  /** Encodes inputs and decodes results; defaults to the codec of `connect`. */
  readonly codec?: Codec
}

export interface FlowHandle<Out = unknown> {
  readonly flowId: FlowId
  /** `duplicate`: the same request with this id was accepted before. */
  readonly kind: SubmittedGraph['kind']
  /** By name. */
  readonly members: Readonly<Record<string, ExecutionId>>
  state(): Promise<FlowState>
  describe(): Promise<FlowDetail>
  /** One of its members, or of its inner flows, by the reference that the builder returned. */
  member<Value>(ref: MemberRef<Value>): Handle<Value>
  /** The result of the member that the function returned. */
  result(options?: ResultOptions): Promise<Out>
  /** Resolves when it has ended, however it ended. */
  wait(request?: WaitForFlowRequest): Promise<FlowDetail>
  cancel(request?: Omit<CancelFlowRequest, 'flowId'>): Promise<CancelFlowResult>
  graph(request?: FlowGraphRequest): Promise<FlowGraph>
}

const optionNames = [
  'flowId',
  'kind',
  'namespace',
  'tags',
  'creator',
  'stayOpen',
  'codec',
] as const satisfies readonly (keyof FlowOptions)[]

export async function submitFlow<Out>(
  engine: Engine,
  ownCodec: Codec,
  build: BuildFlow<Out>,
  options: FlowOptions,
): Promise<FlowHandle<Out>> {
  refuseUnknownFields('flow', options, optionNames)
  const { codec = ownCodec, ...request } = options
  const built = await FlowBuilder.build(build, codec)
  const submitted = await engine.flows.submitGraph({ kind: defaultFlowKind, ...defined(request), ...built.graph })
  return handleOf(engine, codec, built, submitted) as FlowHandle<Out>
}

function handleOf(engine: Engine, codec: Codec, built: BuiltFlow, submitted: SubmittedGraph): FlowHandle {
  const { flows } = engine
  const { flowId, kind, members } = submitted
  const describe = async (): Promise<FlowDetail> => present(flowId, await flows.describe(flowId))
  const member = (ref: MemberRef): Handle => executionHandle(engine, codec, idOf(ref, built, submitted), {})
  return {
    flowId,
    kind,
    members,
    member: member as FlowHandle['member'],
    async result(given) {
      if (built.last !== null) return member(built.last).result(given)
      const sentence = `the function that wrote flow ${flowId} down returned no member; return the one whose result is wanted`
      throw new EngineError('invalid_input', sentence, { flowId })
    },
    state: async () => (await describe()).state,
    describe,
    wait: (request) => flows.wait(flowId, request),
    cancel: (request = {}) => flows.cancel({ ...request, flowId }),
    graph: async (request) => present(flowId, await flows.graph(flowId, request)),
  }
}

function idOf(ref: unknown, { builder }: BuiltFlow, submitted: SubmittedGraph): ExecutionId {
  const found =
    ref instanceof MemberRef ? flowOf(MemberRef.builderOf(ref), builder, submitted)?.members[ref.name] : undefined
  if (found !== undefined) return found
  const what = ref instanceof MemberRef ? `${show(ref.name)} of another flow` : show(ref)
  throw refusal('invalid_dependency', 'the member', what, 'one that this flow gave out')
}

/** The flow of a builder, in the tree of submitted flows. */
function flowOf(wanted: FlowBuilder, builder: FlowBuilder, flow: SubmittedFlow): SubmittedFlow | null {
  if (wanted === builder) return flow
  for (const [name, inner] of Object.entries(flow.innerFlows)) {
    const found = flowOf(wanted, builder.innerOf(name)!, inner)
    if (found !== null) return found
  }
  return null
}

/** The flow existed when it was submitted. It is deleted some weeks after its end. */
function present<T>(flowId: FlowId, found: T | null): T {
  if (found !== null) return found
  throw new EngineError('flow_not_found', `flow ${flowId} does not exist any more`, { flowId })
}
