// The operations on flows, bound to a caller.
import type { Sql } from '../../sql/sql.ts'
import type { Caller } from '../caller.ts'
import type { Flows } from '../contract.ts'
import type { Dispatcher } from '../dispatch/dispatcher.ts'
import { owed } from '../dispatch/owed.ts'
import { throwInOurWords } from '../failure.ts'
import type { Hints } from '../hint.ts'
import type { QueueRegistry } from '../queue/intern.ts'
import { addMember } from './add-member.ts'
import { closeFlow } from './close.ts'
import { connect } from './connect.ts'
import { createFlow } from './create.ts'
import { describeEdge } from './describe-edge.ts'
import { describeFlow } from './describe.ts'
import { listEdges } from './edges.ts'
import { eligibility } from './eligibility.ts'
import { getFlowTag } from './get-tag.ts'
import { flowGraph } from './graph.ts'
import { listFlows } from './list.ts'
import type { Turns } from './means.ts'
import { seal } from './seal.ts'
import { setFlowTag } from './set-tag.ts'
import { cancelFlow } from './cancel.ts'
import { submitGraph } from './submit-graph.ts'
import { flowTimeline } from './timeline.ts'
import { upstreamResults } from './upstream-results.ts'
import { waitForFlow } from './wait.ts'

interface Shared {
  /** For reads, its errors in our words; `raw` for what is sent again when it must. */
  readonly sql: Sql
  readonly raw: Sql
  readonly queues: QueueRegistry
  readonly hints: Hints
  readonly turns: Turns
  readonly dispatcher: Dispatcher
  readonly onOwed: (owes: number) => void
}

export function flowsFor({ sql, raw, queues, hints, turns, dispatcher, onOwed }: Shared, caller: Caller): Flows {
  const means = { sql: raw, queues, hints, turns, onOwed: () => onOwed(owed.flow) }
  return {
    create: (request) => createFlow(means, caller, request).catch(throwInOurWords),
    addMember: (request) => addMember(means, caller, request).catch(throwInOurWords),
    connect: (request) => connect(means, caller, request).catch(throwInOurWords),
    seal: (request) => seal(means, caller, request).catch(throwInOurWords),
    close: (request) => closeFlow(means, caller, request).catch(throwInOurWords),
    submitGraph: (request) => submitGraph(means, caller, request).catch(throwInOurWords),
    describe: (flowId) => describeFlow(sql, caller, flowId),
    list: (request = {}) => listFlows(sql, caller, request),
    graph: (flowId, request = {}) => flowGraph(sql, caller, flowId, request),
    edges: (flowId, request = {}) => listEdges(sql, caller, flowId, request),
    describeEdge: (flowId, edgeId) => describeEdge(sql, caller, flowId, edgeId),
    upstreamResults: (executionId, request = {}) => upstreamResults(sql, caller, executionId, request),
    eligibility: (executionId) => eligibility(sql, caller, executionId),
    wait: (flowId, request = {}) => waitForFlow(sql, hints, caller, flowId, request),
    timeline: (flowId, request = {}) => flowTimeline(sql, caller, flowId, request),
    setTag: (flowId, key, value) => setFlowTag(sql, caller, flowId, key, value),
    getTag: (flowId, key) => getFlowTag(sql, caller, flowId, key),
    cancel: (request) => cancelFlow({ sql: raw, dispatcher, hints, onOwed }, caller, request).catch(throwInOurWords),
  }
}
