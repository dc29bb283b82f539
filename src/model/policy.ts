// The policy of an execution. It is checked as a whole when it is submitted and stored with its back-off written out,
// so that a changed default does not change it.
import { parseDuration } from './duration.ts'
import type { Duration } from './duration.ts'
import { refusal } from './errors.ts'
import type { EngineError } from './errors.ts'
import { limits } from './limits.ts'
import { ownFields, readShape } from './shape.ts'
import type { Reader } from './shape.ts'
import { oneOf, show } from './text.ts'

export const failureCategories = ['transient', 'permanent', 'infra_crash', 'timeout', 'cancelled'] as const
export type FailureCategory = (typeof failureCategories)[number]

/** The others are never retried, so a policy that lists them is refused. */
export const retryableCategories = ['transient', 'infra_crash', 'timeout'] as const
export type RetryableCategory = (typeof retryableCategories)[number]

export interface ExponentialBackoff<D = number> {
  readonly type: 'exponential'
  readonly initialMs: D
  readonly maxMs: D
  readonly multiplier: number
  /** The random share of a delay: 0.25 waits for 75 to 100 % of it. */
  readonly jitter: number
}

export interface FixedBackoff<D = number> {
  readonly type: 'fixed'
  readonly delayMs: D
  readonly jitter: number
}

export interface RetryPolicy {
  /** Runs in all, the first included. */
  readonly attempts: number
  readonly backoff: ExponentialBackoff | FixedBackoff
  /** Without it, every retryable category. */
  readonly categories?: readonly RetryableCategory[]
}

export interface ExecutionPolicy {
  readonly retry?: RetryPolicy
  readonly attemptTimeoutMs?: number
  readonly maxReclaimCount?: number
  readonly maxReplayCount?: number
  readonly maxSignalCount?: number
}

/** A policy as one layer names it: a missing back-off is that of the next layer. */
export interface PartialPolicy extends Omit<ExecutionPolicy, 'retry'> {
  readonly retry?: Omit<RetryPolicy, 'backoff'> & { readonly backoff?: RetryPolicy['backoff'] }
}

type BackoffInput<B> = Pick<B, 'type' & keyof B> & Partial<B>

/** A policy as a caller writes it: times are durations, and a back-off may leave out fields. */
export interface PolicyInput extends Omit<ExecutionPolicy, 'retry' | 'attemptTimeoutMs'> {
  readonly retry?: Omit<RetryPolicy, 'backoff'> & {
    readonly backoff?: BackoffInput<ExponentialBackoff<Duration>> | BackoffInput<FixedBackoff<Duration>>
  }
  readonly attemptTimeoutMs?: Duration
}

/** Absent means no policy, and no retries. */
export function parsePolicy(value: unknown): ExecutionPolicy | null {
  const policy = parsePartialPolicy(value)
  return policy === null ? null : completePolicy(policy)
}

export function parsePartialPolicy(value: unknown): PartialPolicy | null {
  if (value === undefined || value === null) return null
  return { ...readShape('invalid_policy', 'policy', value, policyShape) }
}

/** Adds the built-in back-off if none is named. */
export function completePolicy(policy: PartialPolicy): ExecutionPolicy {
  const { retry } = policy
  if (retry === undefined) return policy as ExecutionPolicy
  const { attempts, backoff = parseExponential('backoff', {}), ...categories } = retry
  return { ...policy, retry: { attempts, backoff, ...categories } }
}

const duration: Reader<number> = (at, value) => parseDuration(at, value, 'invalid_policy')

const policyShape = {
  retry: parseRetry,
  attemptTimeoutMs: parseTimeout,
  maxReclaimCount: wholeNumber(0, limits.reclaimCount),
  maxReplayCount: wholeNumber(0, limits.replayCount),
  maxSignalCount: wholeNumber(0, limits.signalCount),
}

const retryShape = { attempts: wholeNumber(1, limits.attempts), backoff: parseBackoff, categories: parseCategories }

const jitterShare = numberWithin(0, 1)
const exponentialShape = {
  type: () => 'exponential',
  initialMs: duration,
  maxMs: duration,
  multiplier: numberWithin(1, limits.backoffMultiplier),
  jitter: jitterShare,
}
const fixedShape = { type: () => 'fixed', delayMs: duration, jitter: jitterShare }

function parseTimeout(at: string, value: unknown): number {
  const timeoutMs = duration(at, value)
  if (timeoutMs > 0) return timeoutMs
  throw refuse(at, value, 'longer than 0 ms')
}

function parseRetry(at: string, value: unknown): NonNullable<PartialPolicy['retry']> {
  const { attempts, backoff, categories } = readShape('invalid_policy', at, value, retryShape)
  return {
    attempts: attempts ?? retryShape.attempts(`${at}.attempts`, undefined),
    ...(backoff && { backoff }),
    ...(categories && { categories }),
  }
}

function parseBackoff(at: string, value: unknown): RetryPolicy['backoff'] {
  const fields = ownFields(value)
  if (fields === null) throw refuse(at, value, 'a plain object')
  const type = fields.get('type')
  if (type === 'exponential') return parseExponential(at, value)
  if (type === 'fixed') return parseFixed(at, value)
  throw refuse(`${at}.type`, type, oneOf(type, ['exponential', 'fixed']))
}

function parseExponential(at: string, value: unknown): ExponentialBackoff {
  const read = readShape('invalid_policy', at, value, exponentialShape)
  const { initialMs = 1000, multiplier = 2, jitter = 0 } = read
  const { maxMs = Math.max(initialMs, 60_000) } = read
  if (maxMs < initialMs) throw refuse(`${at}.maxMs`, maxMs, `at least initialMs, which is ${initialMs}`)
  return { type: 'exponential', initialMs, maxMs, multiplier, jitter }
}

function parseFixed(at: string, value: unknown): FixedBackoff {
  const { delayMs = 1000, jitter = 0 } = readShape('invalid_policy', at, value, fixedShape)
  return { type: 'fixed', delayMs, jitter }
}

function parseCategories(at: string, value: unknown): readonly RetryableCategory[] {
  if (!Array.isArray(value) || value.length === 0) {
    throw refuse(at, value, 'an array of categories; omit it to retry every retryable failure')
  }
  const listed = new Set<unknown>(value)
  for (const word of listed) {
    if (!isRetryable(word)) throw refuse(at, word, oneOf(word, retryableCategories))
  }
  return retryableCategories.filter((category) => listed.has(category))
}

function isRetryable(category: unknown): category is RetryableCategory {
  return (retryableCategories as readonly unknown[]).includes(category)
}

function wholeNumber(min: number, max: number): Reader<number> {
  return (at, value) => {
    if (Number.isInteger(value) && isWithin(value, min, max)) return value
    throw refuse(at, value, `a whole number from ${min} to ${max}`)
  }
}

function numberWithin(min: number, max: number): Reader<number> {
  return (at, value) => {
    if (isWithin(value, min, max)) return value
    throw refuse(at, value, `a number from ${min} to ${max}`)
  }
}

function isWithin(value: unknown, min: number, max: number): value is number {
  return typeof value === 'number' && value >= min && value <= max
}

function refuse(at: string, found: unknown, allowed: string): EngineError {
  return refusal('invalid_policy', at, show(found), allowed)
}

/** Whether another attempt follows a failure; `retryCount` is the number of retries before it. */
export function shouldRetry(
  policy: ExecutionPolicy | null,
  retryCount: number,
  category: FailureCategory,
  permanent: boolean,
): boolean {
  const retry = policy?.retry
  if (retry === undefined || permanent || !isRetryable(category)) return false
  // Written so that a number of attempts that was damaged allows no retry.
  if (!(retryCount + 1 < retry.attempts)) return false
  return retry.categories === undefined || retry.categories.includes(category)
}

/** How long the retry waits; `random` is from 0 up to 1. Jitter only shortens, so `maxMs` is an upper bound. */
export function retryDelayMs(policy: ExecutionPolicy | null, retryCount: number, random: number): number {
  const backoff = policy?.retry?.backoff
  if (backoff === undefined) return 0
  return Math.floor(fullDelayMs(backoff, retryCount) * (1 - backoff.jitter * random))
}

function fullDelayMs(backoff: RetryPolicy['backoff'], retryCount: number): number {
  if (backoff.type === 'fixed') return backoff.delayMs
  // Zero stays zero, though the power of the multiplier may be infinite.
  if (backoff.initialMs === 0) return 0
  return Math.min(backoff.initialMs * backoff.multiplier ** retryCount, backoff.maxMs)
}

/** A priority out of range is moved into it, and the result reports that. */
export function clampPriority(value: unknown): { priority: number; clamped: boolean } {
  if (typeof value !== 'number' || !Number.isInteger(value)) {
    throw refusal('invalid_input', 'priority', show(value), `a whole number from 0 to ${limits.priorityMax}`)
  }
  const priority = Math.min(Math.max(value, 0), limits.priorityMax)
  return { priority, clamped: priority !== value }
}
