// The outcome of a run, and the fenced write that reports it to the engine: repeated until the engine replies or the lease is lost.
import type { FailRequest, FailResult } from '../engine/execution/fail.ts'
import type { Engine } from '../engine/contract.ts'
import type { Fence } from '../engine/transition/fence.ts'
import type { Codec, Encoded } from '../model/codec.ts'
import { EngineError } from '../model/errors.ts'
import { limits } from '../model/limits.ts'
import { encodeError, containsMessage, sealedReason, unrecordedReason } from '../model/recorded-error.ts'
import type { Logger } from '../model/logger.ts'
import type { RunExit } from './run-exit.ts'
import { isPermanent, isWaitTimeout, PermanentError, StepError, StepTimeoutError, type RunLeft } from './errors.ts'
import { retryWhileLeased } from './retry-while-leased.ts'
import type { Lease } from './lease.ts'
import { reportFailure, reportRetry, runFields } from './report.ts'

export type Outcome =
  | { readonly kind: 'returned'; readonly result: Uint8Array | undefined; readonly encoding: string | undefined }
  | { readonly kind: 'threw'; readonly error: unknown }
  | RunExit
  | { readonly kind: 'left'; readonly how: RunLeft['how'] }

export interface OutcomeDeps {
  readonly engine: Engine
  readonly codec: Codec
  readonly logger: Logger
  /** The milliseconds until a time of the database's clock. */
  readonly msUntil: (time: number) => number
}

/**
 * Never rejects. An outcome that cannot be reported is logged, and the lease expires. Only the outcome of the run is kept in memory
 * meanwhile. An outcome that the engine refuses for good is reported as a failure instead: every later run would be refused too, until
 * the limit of expiries.
 */
export function reportOutcome(deps: OutcomeDeps, lease: Lease, outcome: Outcome): Promise<unknown> {
  if (outcome.kind === 'left') return Promise.resolve()
  return retryWhileLeased(() => write(deps, lease.fence, outcome), lease)
    .then(
      (answer) => {
        lease.isSettled = true
        report(deps, lease, outcome, answer)
      },
      (error: unknown) => failInstead(deps, lease, error),
    )
    .catch((error: unknown) => {
      // A lost lease has been reported.
      if (lease.isLost) return
      const fields = runFields(lease)
      const sentence = `${fields.kind} ${fields.executionId}: how the run ended could not be stored: ${messageOf(error)}`
      deps.logger.error(`${sentence}. It runs again when its lease expires`, fields)
    })
}

async function failInstead(deps: OutcomeDeps, lease: Lease, error: unknown): Promise<void> {
  if (lease.isLost || canBeMended(error)) throw error
  const refused = new PermanentError(`how the run ended was refused: ${messageOf(error)}`, { cause: error })
  const request = failureOf(deps, lease.fence, refused)
  const answer = await retryWhileLeased(async () => deps.engine.executions.fail(request), lease)
  report(deps, lease, { kind: 'threw', error: refused }, answer)
}

function report({ logger, msUntil }: OutcomeDeps, lease: Lease, outcome: Outcome, answer: unknown): void {
  if (outcome.kind !== 'threw' && outcome.kind !== 'retry') return
  const answered = answer as FailResult
  const delayUntil = answered.kind === 'retry_scheduled' ? answered.delayUntil : null
  // A retry that is due at once has no time.
  const retryInMs = delayUntil === null ? 0 : Math.max(0, Math.round(msUntil(delayUntil)))
  if (outcome.kind === 'threw') reportFailure(logger, lease, outcome.error, answered, retryInMs)
  else reportRetry(logger, lease, messageOf(outcome.reason), answered, retryInMs)
}

/** An operator can correct the cause, such as a revoked key or a missing right in the database. The execution is not failed for it. */
function canBeMended(error: unknown): boolean {
  return EngineError.is(error) && (error.status >= 500 || error.status === 401 || error.status === 403)
}

function write(deps: OutcomeDeps, fence: Fence, outcome: Exclude<Outcome, { kind: 'left' }>): Promise<unknown> {
  const { executions } = deps.engine
  switch (outcome.kind) {
    case 'returned': {
      const { result, encoding } = outcome
      return executions.complete(result === undefined ? fence : { ...fence, result, resultEncoding: encoding! })
    }
    case 'cancel': {
      const { reason } = outcome
      return executions.cancel({ ...fence, ...(reason !== undefined && { reason: reasonOf(deps, reason) }) })
    }
    case 'restart': {
      const { input } = outcome
      const payload = input === null ? {} : { payload: input.bytes, payloadEncoding: input.encoding }
      return executions.restart({ ...fence, ...payload })
    }
    case 'retry': {
      const { delay, reason } = outcome
      return executions.fail({ ...fence, reason: reasonOf(deps, reason), retryIn: delay })
    }
    case 'threw':
      return executions.fail(failureOf(deps, fence, outcome.error))
  }
}

// The reason of `ctx.retryIn` and `ctx.cancel` is text that the code chose to publish. In untyped code it may be any value.
function reasonOf({ codec }: OutcomeDeps, reason: unknown): string {
  if (typeof reason === 'string') return cut(reason)
  return codec.plainReasons === true ? cut(messageOf(reason)) : unnamed
}

function failureOf(deps: OutcomeDeps, fence: Fence, error: unknown): FailRequest {
  const { codec } = deps
  const encoded = encodedOf(deps, fence, error)
  const sealed = encoded === null ? unrecordedReason : sealedReason
  return {
    ...fence,
    reason: codec.plainReasons === true ? cut(sentenceOf(error)) : sealed,
    category: categoryOf(error),
    permanent: isPermanent(error),
    ...(encoded !== null && { error: encoded.bytes, errorEncoding: encoded.encoding }),
  }
}

/** Null when the codec cannot encode the error. The failure is reported without it. */
function encodedOf({ codec, logger }: OutcomeDeps, { executionId }: Fence, error: unknown): Encoded | null {
  try {
    const encoded = encodeError(error, codec)
    if (encoded.bytes.byteLength <= limits.errorBytes) return encoded
    logger.error(`the error of ${executionId} is not recorded: the codec makes ${encoded.bytes.byteLength} bytes of it`)
  } catch (thrown) {
    logger.error(`the error of ${executionId} is not recorded, because it cannot be encoded: ${messageOf(thrown)}`)
  }
  return null
}

export function categoryOf(error: unknown): NonNullable<FailRequest['category']> {
  if (isWaitTimeout(error)) return 'timeout'
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
    if (!parts.some((part) => containsMessage(part, message))) parts.push(message)
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

const unnamed = 'no reason was given'

// The limit is in bytes, and a letter takes four at most. A surrogate pair that the cut has split is removed whole.
export function cut(sentence: string): string {
  const most = limits.reasonBytes / 4
  const part = sentence.length <= most ? sentence : sentence.slice(0, most - 1)
  const shown = part.replaceAll(/\0|\p{Surrogate}/gu, '')
  return part === sentence ? shown || unnamed : `${shown}…`
}
