// The operations on flows, each with the caller as its first argument.
import type { Sql } from '../sql/sql.ts'
import type { ForCaller } from './kernel/bound.ts'
import type { Flows } from './contract.ts'
import type { Dispatcher } from './duties/dispatcher.ts'
import type { DirectOperations } from './direct.ts'
import type { Publish } from './kernel/effects.ts'
import { orEngineError } from './kernel/failure.ts'
import type { Hints } from './kernel/hint.ts'
import type { QueueRegistry } from './queue/intern.ts'
import type { TaskRegistry } from './task/registry.ts'
import { addMember } from './flow/add-member.ts'
import { closeFlow } from './flow/close.ts'
import { connect } from './flow/connect.ts'
import { createFlow } from './flow/create.ts'
import { describeEdge } from './flow/describe-edge.ts'
import { describeFlow } from './flow/describe.ts'
import { listEdges } from './flow/edges.ts'
import { eligibility } from './flow/eligibility.ts'
import { getFlowTag } from './flow/get-tag.ts'
import { flowGraph } from './flow/graph.ts'
import { listFlows } from './flow/list.ts'
import type { FlowTurns } from './flow/flow-deps.ts'
import { seal } from './flow/seal.ts'
import { setFlowTag } from './flow/set-tag.ts'
import { cancelFlow } from './flow/cancel.ts'
import { submitGraph } from './flow/submit-graph.ts'
import { flowTimeline } from './flow/timeline.ts'
import { upstreamResults } from './flow/upstream-results.ts'
import { waitForFlow } from './flow/wait.ts'

interface FlowOperationDeps extends Pick<DirectOperations, 'written'> {
  readonly session: Sql
  readonly queues: QueueRegistry
  readonly tasks: TaskRegistry
  readonly hints: Hints
  readonly turns: FlowTurns
  readonly dispatcher: Dispatcher
  readonly publish: Publish
}

export function flowOperations({
  session: sql,
  queues,
  tasks,
  hints,
  turns,
  dispatcher,
  publish,
  written,
}: FlowOperationDeps): ForCaller<Flows> {
  const deps = { sql, queues, tasks, turns }
  return {
    create: written((caller, request) => createFlow(deps, caller, request)),
    addMember: written((caller, request) => addMember(deps, caller, request)),
    connect: written((caller, request) => connect(deps, caller, request)),
    seal: written((caller, request) => seal(deps, caller, request)),
    close: written((caller, request) => closeFlow(deps, caller, request)),
    submitGraph: written((caller, request) => submitGraph(deps, caller, request)),
    describe: (caller, flowId) => describeFlow(sql, caller, flowId),
    list: (caller, request = {}) => listFlows(sql, caller, request),
    graph: (caller, flowId, request = {}) => flowGraph(sql, caller, flowId, request),
    edges: (caller, flowId, request = {}) => listEdges(sql, caller, flowId, request),
    describeEdge: (caller, flowId, edgeId) => describeEdge(sql, caller, flowId, edgeId),
    upstreamResults: (caller, executionId, request = {}) => upstreamResults(sql, caller, executionId, request),
    eligibility: (caller, executionId) => eligibility(sql, caller, executionId),
    wait: (caller, flowId, request = {}) => waitForFlow(sql, hints, caller, flowId, request),
    timeline: (caller, flowId, request = {}) => flowTimeline(sql, caller, flowId, request),
    setTag: (caller, flowId, key, value) => setFlowTag(sql, caller, flowId, key, value),
    getTag: (caller, flowId, key) => getFlowTag(sql, caller, flowId, key),
    cancel: (caller, request) => orEngineError(cancelFlow({ sql, dispatcher, publish }, caller, request)),
  }
}
