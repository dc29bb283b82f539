// The claim of a run, and the calls to the engine under its lease.
import type { Engine } from '../engine/contract.ts'
import type { Claim } from '../engine/execution/claim.ts'
import type { Fence } from '../engine/transition/fence.ts'
import type { RecordStepRequest, StepRecorded } from '../engine/step/record-request.ts'
import type { Step } from '../engine/step/step.ts'
import type { Codec } from '../model/codec.ts'
import { decodeValue } from '../model/codec.ts'
import { limits } from '../model/limits.ts'
import type { Logger } from '../model/logger.ts'
import { retryWhileLeased } from './retry-while-leased.ts'
import type { StepCall } from './history.ts'
import type { Lease } from './lease.ts'
import { processClock, type ProcessClock } from './process-clock.ts'
import type { AroundStep } from './telemetry.ts'

export class Holder {
  readonly engine: Engine
  readonly claim: Claim
  readonly fence: Fence
  readonly codec: Codec
  readonly logger: Logger
  readonly lease: Lease
  readonly clock: ProcessClock
  readonly aroundStep: AroundStep | undefined

  constructor(
    engine: Engine,
    claim: Claim,
    codec: Codec,
    logger: Logger,
    lease: Lease,
    clock: ProcessClock = processClock,
    aroundStep?: AroundStep,
  ) {
    this.engine = engine
    this.claim = claim
    this.fence = lease.fence
    this.codec = codec
    this.logger = logger
    this.lease = lease
    this.clock = clock
    this.aroundStep = aroundStep
  }

  /** Repeats the call until it succeeds, its error is final, or the lease is lost. */
  retryWhileLeased<T>(call: () => Promise<T>): Promise<T> {
    return retryWhileLeased(call, this.lease)
  }

  record(
    { name, index, place, kind }: StepCall,
    what: Omit<RecordStepRequest, 'name' | 'index' | 'place' | 'kind' | keyof Fence>,
  ): Promise<StepRecorded> {
    const { executionId, leaseId, leaseEpoch } = this.fence
    const request = { executionId, leaseId, leaseEpoch, name, index, place, kind, ...what }
    return this.retryWhileLeased(() => this.engine.steps.record(request))
  }

  /** All recorded steps, in the order of their records. This is one page, unless the server has smaller pages. */
  async steps(): Promise<readonly Step[]> {
    const steps: Step[] = []
    let cursor: string | null = null
    do {
      const from: { cursor?: string } = cursor === null ? {} : { cursor }
      const page = await this.retryWhileLeased(() =>
        this.engine.steps.list(this.claim.executionId, { limit: limits.stepCount, ...from }),
      )
      steps.push(...page.steps)
      cursor = page.nextCursor
    } while (cursor !== null)
    return steps
  }

  decode(what: string, bytes: Uint8Array | null, encoding: string | null): unknown {
    return decodeValue(this.codec, what, bytes, encoding)
  }
}
