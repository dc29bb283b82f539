// The log lines of runs. A failed attempt is one line: the error, where it was thrown, and what happens next. The
// fields carry the same facts.
import type { FailResult } from '../engine/execution/fail.ts'
import type { EngineError } from '../model/errors.ts'
import { parseExecutionId } from '../model/id.ts'
import { ignoresDebug, oneLine, type Logger } from '../model/logger.ts'
import { decodeError, encodeError, sentenceOf } from '../model/recorded-error.ts'
import { originOf } from '../model/revived-error.ts'
import { firstUserFrame, stackOf, userFrames } from '../model/stack.ts'
import type { ClaimReason } from '../model/state.ts'
import type { Lease } from './lease.ts'

/** The fields of every line about a run; lines of the user's code have them too. */
export interface RunFields {
  /** The bare uuid, which every command and verb accepts as an id. */
  readonly executionId: string
  readonly kind: string
  /** From 1. */
  readonly attempt: number
  readonly maxAttempts: number
}

export function runFields({ fence, kind, attempt, maxAttempts }: Lease): RunFields {
  return { executionId: parseExecutionId(fence.executionId).uuid, kind, attempt, maxAttempts }
}

/** `retryInMs` counts only when the answer is a retry. */
export function reportFailure(
  logger: Logger,
  lease: Lease,
  thrown: unknown,
  answer: FailResult,
  retryInMs: number,
): void {
  const { step, error, text } = describe(thrown)
  const fields = { ...runFields(lease), ...(step !== undefined && { step }), error }
  const line = `${headOf(fields)} failed${step === undefined ? '' : ` in step ${JSON.stringify(step)}`}: ${text}`
  if (answer.kind === 'retry_scheduled') logger.warn(`${line}; ${retryText(retryInMs)}`, { ...fields, retryInMs })
  else if (answer.kind === 'cancelled') logger.info(`${line}; not retried, because it was cancelled`, fields)
  else logger.error(`${line}; ${isLast(fields) ? 'no attempts left' : 'not retried'}`, fields)
}

/** The code called `ctx.retryIn`: nothing is wrong, unless that was its last attempt. */
export function reportRetry(logger: Logger, lease: Lease, reason: string, answer: FailResult, retryInMs: number): void {
  const fields = { ...runFields(lease), reason }
  const line = `${headOf(fields)} asked for a retry: ${shortened(reason)}`
  if (answer.kind === 'retry_scheduled') logger.info(`${line}; ${retryText(retryInMs)}`, { ...fields, retryInMs })
  else if (answer.kind === 'cancelled') logger.info(`${line}; not retried, because it was cancelled`, fields)
  else logger.error(`${line}; no attempts left`, fields)
}

export interface FailedTry {
  readonly step: string
  readonly tryCount: number
  readonly maxTries: number
  /** Null for the last one. The attempt fails by it and reports it, unless the code catches it. */
  readonly retryInMs: number | null
}

export function reportFailedTry(logger: Logger, lease: Lease, thrown: unknown, failed: FailedTry): void {
  const { step, tryCount, maxTries, retryInMs } = failed
  const { error, text } = describe(thrown)
  const fields = { ...runFields(lease), step, tryCount, maxTries, error }
  const line = `${fields.kind} ${fields.executionId}: try ${tryCount} of ${maxTries} of step ${JSON.stringify(step)} failed: ${text}`
  if (retryInMs === null) logger.debug(`${line}; not retried`, fields)
  else logger.warn(`${line}; ${retryText(retryInMs)}`, { ...fields, retryInMs })
}

/** The run has lost its lease before its end. `hasTimedOut`: the time of its attempt was over. */
export function reportLost(logger: Logger, lease: Lease, error: EngineError, hasTimedOut: boolean): void {
  const fields = { ...runFields(lease), code: error.code }
  const head = headOf(fields)
  const ended = error.code === 'execution_not_active' ? error.details['terminalOutcome'] : undefined
  if (ended === 'cancelled') return logger.info(`${head} was cancelled while it ran`, fields)
  if (hasTimedOut && (ended === 'expired' || error.code === 'stale_lease')) {
    const after = lease.timeoutMs === null ? '' : ` after ${durationText(lease.timeoutMs)}`
    if (ended === undefined) return logger.warn(`${head} timed out${after}; retried by its policy`, fields)
    return logger.error(`${head} timed out${after}; ${isLast(fields) ? 'no attempts left' : 'not retried'}`, fields)
  }
  if (ended === 'expired') return logger.error(`${head} was ended, because the deadline has passed`, fields)
  logger.warn(`${head} lost its lease, and its result is dropped: ${lossText(error)}`, fields)
}

/** The run has returned without some of the steps that earlier runs recorded. */
export function reportUnreached(logger: Logger, lease: Lease, sentence: string, steps: readonly string[]): void {
  const fields = { ...runFields(lease), steps }
  logger.warn(`${fields.kind} ${fields.executionId}: ${shortened(sentence)}`, fields)
}

const mostNamed = 5

/** The worker has stopped before these runs ended. `failure`: why their executions could not be released; null when they were. */
export function reportAbandoned(logger: Logger, leases: readonly Lease[], failure: string | null): void {
  const all = leases.map(runFields)
  const named = all.slice(0, mostNamed).map(({ kind, executionId }) => `${kind} ${executionId}`)
  const names = `${named.join(', ')}${all.length > mostNamed ? ', ...' : ''}`
  const next =
    failure === null
      ? 'They were released, and another worker continues them'
      : `They could not be released (${failure}), and another worker continues them when their leases expire`
  const fields = { executionIds: all.map(({ executionId }) => executionId), released: failure === null }
  logger.warn(`the worker stopped with ${countText(all.length, 'run')} unfinished: ${names}. ${next}`, fields)
}

export function countText(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

export function reportStart(logger: Logger, lease: Lease, reason: ClaimReason): void {
  if (ignoresDebug(logger)) return
  const fields = { ...runFields(lease), reason }
  logger.debug(`${headOf(fields)} starts (${reason})`, fields)
}

export function reportEnd(logger: Logger, lease: Lease, outcome: string, durationMs: number): void {
  if (ignoresDebug(logger)) return
  const fields = { ...runFields(lease), outcome, durationMs: Math.round(durationMs) }
  logger.debug(`${headOf(fields)} ${outcome} after ${durationText(durationMs)}`, fields)
}

function headOf({ kind, executionId, attempt, maxAttempts }: RunFields): string {
  return `${kind} ${executionId}: attempt ${attempt} of ${maxAttempts}`
}

function isLast({ attempt, maxAttempts }: RunFields): boolean {
  return attempt >= maxAttempts
}

function retryText(ms: number): string {
  return ms < 1 ? 'retried now' : `retry in ${durationText(ms)}`
}

function lossText(error: EngineError): string {
  if (error.code === 'lease_expired') return 'it was not renewed in time. The execution runs again'
  if (error.code === 'lease_revoked') return 'an operator revoked it'
  if (error.code === 'execution_not_active')
    return `the execution has ended as ${String(error.details['terminalOutcome'])}`
  if (error.code === 'execution_not_found') return 'the execution was deleted'
  return 'another worker has the execution'
}

// Accepts any thrown value: recording never throws, and bounds what it reads.
function describe(thrown: unknown): { readonly step?: string; readonly error: object; readonly text: string } {
  const { step, error } = originOf(decodeError(encodeError(thrown)))
  const { name, message, stack } = error
  const frames = userFrames(stack, message)
  const frame = firstUserFrame(stack, message)
  return {
    ...(step !== undefined && { step }),
    error: { name, message, ...(frames.length > 0 && { stack: stackOf(`${name}: ${message}`, frames) }) },
    text: `${shortened(sentenceOf(error))}${frame === undefined ? '' : `, ${frame}`}`,
  }
}

const mostLetters = 500

function shortened(text: string): string {
  const line = oneLine(text)
  return line.length <= mostLetters ? line : `${line.slice(0, mostLetters)}…`
}

/** `740 ms`, `5.1 s`, `3 min`, `2.5 h`. */
export function durationText(ms: number): string {
  if (ms < 999.5) return `${Math.round(ms)} ms`
  const [size, unit] = ms < 99_500 ? [1000, 's'] : ms < 5_400_000 ? [60_000, 'min'] : [3_600_000, 'h']
  return `${Number((ms / size).toFixed(1))} ${unit}`
}
