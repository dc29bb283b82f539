// A run as a file stores it, for `verify`: its input and its records. JSON, with bytes as base64, as the codec encoded
// them.
import type { Engine } from '../engine/contract.ts'
import type { UpstreamResult } from '../engine/flow/upstream-results.ts'
import type { Step } from '../engine/step/step.ts'
import { EngineError, refusal } from '../model/errors.ts'
import type { ExecutionId, FlowId } from '../model/id.ts'
import { limits } from '../model/limits.ts'
import type { PublicState } from '../model/state.ts'
import { show } from '../model/text.ts'

export interface RecordedBytes {
  readonly base64: string
  readonly encoding: string
}

export type RecordedRunStep = Omit<Step, 'result' | 'resultEncoding'> & { readonly result: RecordedBytes | null }

export type RecordedUpstream = Omit<UpstreamResult, 'result' | 'encoding'> & { readonly result: RecordedBytes | null }

export interface RecordedRun {
  readonly format: 'flowfabric.run.1'
  readonly executionId: ExecutionId
  readonly namespace: string
  readonly lane: string
  readonly kind: string
  readonly version: string | null
  readonly tags: Readonly<Record<string, string>>
  readonly generation: number
  readonly flowId: FlowId | null
  readonly parentId: ExecutionId | null
  readonly state: PublicState
  /** When it ended, or when it was exported. */
  readonly at: number
  readonly input: RecordedBytes | null
  readonly steps: readonly RecordedRunStep[]
  /** For a member of a flow: its upstreams. */
  readonly upstreams: readonly RecordedUpstream[]
}

const format = 'flowfabric.run.1'

export async function exportRun(engine: Engine, executionId: string): Promise<RecordedRun> {
  const [found, input, now] = await Promise.all([
    engine.executions.describe(executionId),
    engine.executions.input(executionId),
    engine.serverTime(),
  ])
  if (found === null || input === null) {
    throw new EngineError('execution_not_found', `execution ${executionId} does not exist`, { executionId })
  }
  const steps: RecordedRunStep[] = []
  for (let cursor: string | undefined; ;) {
    const page = await engine.steps.list(executionId, {
      limit: limits.stepCount,
      ...(cursor !== undefined && { cursor }),
    })
    for (const { result, resultEncoding, ...step } of page.steps) {
      steps.push({ ...step, result: recorded(result, resultEncoding) })
    }
    if (page.nextCursor === null) break
    cursor = page.nextCursor
  }
  const { namespace, lane, kind, version, tags, generation, flowId, parentId, publicState: state } = found
  const traits = { namespace, lane, kind, version, tags, generation, flowId, parentId, state }
  return {
    format,
    executionId: found.executionId,
    ...traits,
    at: found.endedAt ?? now,
    input: recorded(input.payload, input.encoding),
    steps,
    upstreams: flowId === null ? [] : await upstreamsOf(engine, executionId),
  }
}

async function upstreamsOf(engine: Engine, executionId: string): Promise<RecordedUpstream[]> {
  const upstreams: RecordedUpstream[] = []
  for (let cursor: string | undefined; ;) {
    const request = { limit: 1000, ...(cursor !== undefined && { cursor }) }
    const page = await engine.flows.upstreamResults(executionId, request)
    for (const { result, encoding, ...upstream } of page.results) {
      upstreams.push({ ...upstream, result: recorded(result, encoding) })
    }
    if (page.nextCursor === null) return upstreams
    cursor = page.nextCursor
  }
}

export function checkRecordedRun(run: unknown): RecordedRun {
  const isOne = typeof run === 'object' && run !== null && 'format' in run && 'steps' in run && run.format === format
  if (isOne) return run as RecordedRun
  throw refusal('invalid_input', 'a recorded run', show(run), 'what `export` of a handle returned')
}

export function stepsOf(run: RecordedRun): Step[] {
  return run.steps.map(({ result, ...step }) => ({
    ...step,
    // For the code an abandoned step is pending: it began and has not ended.
    state: step.state === 'abandoned' ? 'pending' : step.state,
    result: bytesOf(result),
    resultEncoding: result?.encoding ?? null,
  }))
}

export function bytesOf(recorded: RecordedBytes | null): Uint8Array | null {
  return recorded === null ? null : new Uint8Array(Buffer.from(recorded.base64, 'base64'))
}

function recorded(bytes: Uint8Array | null, encoding: string | null): RecordedBytes | null {
  return bytes === null ? null : { base64: Buffer.from(bytes).toString('base64'), encoding: encoding ?? 'json' }
}
