// How a run came to its end, and how the engine is told: one fenced write, sent until it is answered or the lease is lost.
import type { FailRequest } from '../engine/execution/fail.ts'
import type { Engine } from '../engine/contract.ts'
import type { Fence } from '../engine/fence.ts'
import type { Codec } from '../model/codec.ts'
import { EngineError } from '../model/errors.ts'
import { limits } from '../model/limits.ts'
import { encodeError, sealedReason } from '../model/recorded-error.ts'
import type { Logger } from '../sql/logger.ts'
import type { Departure } from './departure.ts'
import { PermanentError, StepError, StepTimeoutError } from './errors.ts'
import { insist } from './insist.ts'
import type { Lease } from './lease.ts'

export type Outcome =
  | { readonly kind: 'returned'; readonly result: Uint8Array | undefined; readonly encoding: string | undefined }
  | { readonly kind: 'threw'; readonly error: unknown }
  | Departure
  | { readonly kind: 'left' }

export interface Telling {
  readonly engine: Engine
  readonly codec: Codec
  readonly logger: Logger
}

/** Never rejects: what cannot be told is logged, and the lease runs out. Nothing of the run but its outcome is kept meanwhile. */
export function tell(around: Telling, lease: Lease, outcome: Outcome): Promise<unknown> {
  if (outcome.kind === 'left') return Promise.resolve()
  return insist(() => write(around, lease.fence, outcome), lease).catch((error: unknown) => {
    const level = lease.isLost ? 'info' : 'error'
    around.logger[level](`the outcome of ${lease.fence.executionId} is not told: ${messageOf(error)}`)
  })
}

function write(
  { engine: { executions }, codec }: Telling,
  fence: Fence,
  outcome: Exclude<Outcome, { kind: 'left' }>,
): Promise<unknown> {
  switch (outcome.kind) {
    case 'returned': {
      const { result, encoding } = outcome
      return executions.complete(result === undefined ? fence : { ...fence, result, resultEncoding: encoding! })
    }
    case 'cancel': {
      const { reason } = outcome
      return executions.cancel({ ...fence, ...(reason !== undefined && { reason }) })
    }
    case 'restart': {
      const { input } = outcome
      const payload = input === null ? {} : { payload: input.bytes, payloadEncoding: input.encoding }
      return executions.restart({ ...fence, ...payload })
    }
    case 'retry': {
      const { delay, reason } = outcome
      return executions.fail({ ...fence, reason: cut(reason), retryIn: delay })
    }
    case 'threw':
      return executions.fail(failureOf(codec, fence, outcome.error))
  }
}

function failureOf(codec: Codec, fence: Fence, error: unknown): FailRequest {
  const { bytes, encoding } = encodeError(error, codec)
  return {
    ...fence,
    reason: codec.plainReasons === true ? cut(sentenceOf(error)) : sealedReason,
    category: categoryOf(error),
    permanent: isPermanent(error),
    error: bytes,
    errorEncoding: encoding,
  }
}

const neverAgain = new Set([
  'step_kind_conflict',
  'step_value_refused',
  'step_limit',
  'nondeterminism',
  'invalid_condition',
])

function isPermanent(error: unknown): boolean {
  if (error instanceof StepError) return error.isPermanent
  return error instanceof PermanentError || (EngineError.is(error) && neverAgain.has(error.code))
}

function categoryOf(error: unknown): NonNullable<FailRequest['category']> {
  if (isPermanent(error)) return 'permanent'
  const isTimeout =
    error instanceof StepTimeoutError || (error instanceof StepError && error.error.name === 'StepTimeoutError')
  return isTimeout ? 'timeout' : 'transient'
}

/** With its causes: `the mail was not sent: connection refused`. */
function sentenceOf(error: unknown): string {
  const parts: string[] = []
  for (let each = error; each !== undefined && each !== null && parts.length < 5; each = causeOf(each)) {
    const message = messageOf(each)
    if (!parts.some((part) => part.endsWith(message))) parts.push(message)
  }
  return parts.join(': ') || 'the handler threw nothing'
}

function causeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'cause' in error ? error.cause : undefined
}

export function messageOf(error: unknown): string {
  try {
    const isLike = typeof error === 'object' && error !== null && 'message' in error
    const message = isLike ? String(error.message) : String(error)
    return message === '' && error instanceof Error ? error.name : message
  } catch {
    return 'something that cannot be shown'
  }
}

// Bytes, not letters, are what is bounded; four are the most that one takes.
export function cut(sentence: string): string {
  const shown = sentence.replaceAll(/\0|\p{Surrogate}/gu, '')
  return shown.length <= limits.reasonBytes / 4 ? shown : `${shown.slice(0, limits.reasonBytes / 4 - 1)}…`
}
