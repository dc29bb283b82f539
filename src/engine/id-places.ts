// Where each operation takes the id of a stored row, by argument. Ids of new rows are not listed: their partition decides where
// the row is stored, so they must be full. The conformance suite calls every operation here with bare uuids.
import { limits } from '../model/limits.ts'
import { conditionTree, type IdPlaces } from './kernel/bare-id.ts'
import type { Engine } from './contract.ts'

const execution = { executionId: 'execution' } as const
const flow = { flowId: 'flow' } as const
const waitpoint = { waitpointId: 'waitpoint' } as const
const suspension = { ...execution, condition: conditionTree, waitpoints: [waitpoint] } as const
const leases = { leases: [execution, limits.leaseCount] } as const
const byExecution = ['execution'] as const
const byFlow = ['flow'] as const

type EngineNouns = Omit<Engine, 'as' | 'serverTime'>
export type OperationPlaces = {
  readonly [Noun in keyof EngineNouns]?: { readonly [Verb in keyof EngineNouns[Noun]]?: readonly IdPlaces[] }
}

export const idPlaces: OperationPlaces = {
  executions: {
    create: [{ parentId: 'execution' }],
    createMany: [[{ parentId: 'execution' }]],
    grant: [execution],
    claimById: [execution],
    renew: [leases],
    complete: [execution],
    completeMany: [[execution]],
    fail: [execution],
    failMany: [[execution]],
    delay: [execution],
    delayMany: [[execution]],
    release: [execution],
    releaseMany: [[execution]],
    suspend: [suspension],
    suspendMany: [[suspension]],
    trySuspend: [suspension],
    resume: [execution],
    resumeMany: [[execution]],
    progress: [execution],
    replay: [execution],
    replayMany: [[execution]],
    restart: [execution],
    warn: [execution],
    changePriority: [execution],
    cancel: [execution],
    cancelMany: [[execution]],
    describe: byExecution,
    explain: byExecution,
    result: byExecution,
    input: byExecution,
    list: [{ parentId: 'execution' }],
    resolveFlowId: byExecution,
    getNamespace: byExecution,
    setTag: byExecution,
    getTag: byExecution,
  },
  flows: {
    addMember: [{ ...flow, ...execution, after: [{ upstream: 'execution' }] }],
    connect: [{ ...flow, upstream: 'execution', downstream: 'execution' }],
    seal: [{ ...flow, downstream: 'execution' }],
    close: [flow],
    cancel: [flow],
    describe: byFlow,
    graph: byFlow,
    edges: ['flow', { from: 'execution', to: 'execution' }],
    describeEdge: byFlow,
    upstreamResults: byExecution,
    eligibility: byExecution,
    wait: byFlow,
    timeline: byFlow,
    setTag: byFlow,
    getTag: byFlow,
  },
  leases: { revoke: [execution], check: [leases] },
  attempts: { list: byExecution },
  steps: { record: [execution], recordMany: [[execution]], list: byExecution },
  suspensions: { describe: byExecution },
  waitpoints: {
    create: [execution],
    list: byExecution,
    readToken: ['waitpoint'],
    link: [waitpoint],
  },
  signals: {
    deliver: [waitpoint],
    deliverMany: [[waitpoint]],
    send: [execution],
    sendMany: [[execution]],
    approve: [waitpoint],
    list: byExecution,
  },
  events: { subscribe: [{ ...execution, ...flow }], timeline: byExecution },
}
