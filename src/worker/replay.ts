// The holder and the handler of a replay: it has no lease, and its code has no effect outside of the process.
import type { Engine } from '../engine/contract.ts'
import type { Claim } from '../engine/execution/claim.ts'
import type { UpstreamResultPage, UpstreamResultsRequest } from '../engine/flow/upstream-results.ts'
import type { Codec } from '../model/codec.ts'
import type { Logger } from '../model/logger.ts'
import type { Context } from './context.ts'
import { Holder } from './holder.ts'
import { Lease } from './lease.ts'
import { NoRecord } from './no-record.ts'
import { bytesOf, type RecordedRun } from './recorded-run.ts'
import type { Task } from './task.ts'

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} }

const halt = (): Promise<never> => Promise.reject(new NoRecord('a replay only reads'))

/** Writes nothing: where the code would act or suspend, it throws `NoRecord`. */
export class ReplayHolder extends Holder {
  constructor(run: RecordedRun, claim: Claim, codec: Codec) {
    const verbs = new Proxy({}, { get: () => halt })
    const answering = (answers: Record<string, unknown>): object =>
      new Proxy(answers, { get: (_, verb) => answers[String(verb)] ?? halt })
    const nouns: Record<string, object> = {
      executions: answering({ progress: async () => ({}), result: async () => ({ kind: 'pending' }) }),
      flows: answering({
        upstreamResults: async (_: unknown, request: UpstreamResultsRequest) => before(run, request),
      }),
    }
    const engine = new Proxy({}, { get: (_, noun) => nouns[String(noun)] ?? verbs }) as Engine
    super(engine, claim, codec, silent, new Lease(claim, Infinity), { longestPauseMs: 0, limit: () => () => {} })
  }
}

function before({ upstreams }: RecordedRun, { names }: UpstreamResultsRequest): UpstreamResultPage {
  const wanted = upstreams.filter(({ name }) => names === undefined || names.includes(name))
  const results = wanted.map(({ result, ...upstream }) => ({
    ...upstream,
    result: bytesOf(result),
    encoding: result?.encoding ?? null,
  }))
  return { results, nextCursor: null }
}

/** The handler with steps that do not run their function. */
export function withoutWork(handler: Task['handler']): Task['handler'] {
  const original = handler as unknown as (ctx: Context, input: unknown) => unknown
  return (ctx: Context, input: unknown) => {
    const step: Context['step'] = (name, _, options) => ctx.step(name, halt, options)
    const replaying = new Proxy(ctx, {
      get: (target, key) => (key === 'step' ? step : (Reflect.get(target, key) as unknown)),
    })
    return original(replaying, input)
  }
}

export function claimOf(run: RecordedRun, attemptIndex: number): Claim {
  return {
    executionId: run.executionId,
    generation: run.generation,
    namespace: run.namespace,
    lane: run.lane,
    kind: run.kind,
    version: run.version,
    tags: run.tags,
    flowId: run.flowId,
    parentId: run.parentId,
    attemptIndex,
    leaseId: '00000000-0000-0000-0000-000000000000',
    leaseEpoch: 1,
    leaseExpiresAt: run.at,
    reason: 'resume',
    priority: 0,
    payload: bytesOf(run.input),
    payloadEncoding: run.input?.encoding ?? null,
    policy: null,
    retryCount: 0,
    createdAt: run.at,
    deadlineAt: null,
    attemptDeadlineAt: null,
    resumption: null,
  }
}
