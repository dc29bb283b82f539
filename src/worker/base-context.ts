// The part of a context that needs no record and no reply: the same in the worker and in a thread.
import type { Claim } from '../engine/execution/claim.ts'
import { parseDuration, type Duration } from '../model/duration.ts'
import type { Logger } from '../model/logger.ts'
import { checkStepName } from '../model/step.ts'
import { bindMethods } from './bind-methods.ts'
import { DeterministicRandom, idempotencyKeyOf } from './deterministic-random.ts'
import type { InsideStep } from './inside-step.ts'
import type { RequestedExit } from './run-exit.ts'

/** The run that a context belongs to. */
export interface ContextOwner {
  readonly claim: Claim
  readonly logger: Logger
  readonly abort: AbortSignal
  /** The step that the calling code is part of. */
  readonly inside: InsideStep | undefined
  /** Ends the run. The first call decides how. */
  exitBy(exit: RequestedExit): never
}

export class BaseContext {
  readonly #owner: ContextOwner
  #random: DeterministicRandom | null = null

  static {
    bindMethods(this.prototype)
  }

  constructor(owner: ContextOwner) {
    this.#owner = owner
  }

  get executionId() {
    return this.#owner.claim.executionId
  }

  get namespace() {
    return this.#owner.claim.namespace
  }

  get lane() {
    return this.#owner.claim.lane
  }

  get kind() {
    return this.#owner.claim.kind
  }

  get version() {
    return this.#owner.claim.version
  }

  get tags() {
    return this.#owner.claim.tags
  }

  get attemptIndex() {
    return this.#owner.claim.attemptIndex
  }

  get generation() {
    return this.#owner.claim.generation
  }

  get flowId() {
    return this.#owner.claim.flowId
  }

  get parentId() {
    return this.#owner.claim.parentId
  }

  get fence() {
    const { leaseId, leaseEpoch } = this.#owner.claim
    return { leaseId, leaseEpoch }
  }

  get abort() {
    return this.#owner.abort
  }

  get logger() {
    return this.#owner.logger
  }

  retryIn(delay: Duration, reason = 'asked to be tried again later'): never {
    parseDuration('the delay of a retry', delay)
    return this.#owner.exitBy({ kind: 'retry', delay, reason })
  }

  cancel(reason?: string): never {
    return this.#owner.exitBy({ kind: 'cancel', reason })
  }

  restart(input?: unknown): never {
    return this.#owner.exitBy({ kind: 'restart', input })
  }

  random(): number {
    return this.#bytes('random').readUIntBE(0, 6) / 2 ** 48
  }

  uuid(): string {
    return uuidFrom(this.#bytes('uuid'))
  }

  #bytes(purpose: string): Buffer {
    this.#random ??= new DeterministicRandom(this.#owner.claim)
    return this.#random.bytes(purpose, this.#owner.inside)
  }

  idempotencyKey(name: string): string {
    return idempotencyKeyOf(this.#owner.claim, checkStepName('the name of an idempotency key', name), null)
  }
}

function uuidFrom(bytes: Buffer): string {
  bytes[6] = (bytes[6]! & 0x0f) | 0x80
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const hex = bytes.toString('hex', 0, 16)
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
