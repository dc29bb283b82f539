// Sends a call to the engine, and repeats it with growing pauses while the engine's error is retryable and the lease is held. An error
// that means that the lease is gone marks it as lost.
import { setTimeout as sleep } from 'node:timers/promises'
import { EngineError, type ErrorCode } from '../model/errors.ts'
import type { Lease } from './lease.ts'

const firstPauseMs = 20
const longestPauseMs = 1000

const lostCodes: readonly ErrorCode[] = [
  'stale_lease',
  'lease_expired',
  'lease_revoked',
  'execution_not_active',
  'execution_not_found',
]

export function retryWhileLeased<T>(call: () => Promise<T>, lease: Lease): Promise<T> {
  if (lease.isLost) return retry(call, lease)
  // Nearly all calls succeed at once. These cost no further promise.
  return started(call).catch((error: unknown) => {
    throwUnlessRetryable(error, lease)
    return retry(call, lease)
  })
}

/** A call may throw before it returns a promise. That counts as a rejection. */
function started<T>(call: () => Promise<T>): Promise<T> {
  try {
    return call()
  } catch (error) {
    return Promise.reject(error)
  }
}

async function retry<T>(call: () => Promise<T>, lease: Lease): Promise<T> {
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    lease.throwIfLost()
    await sleep(pauseMs, undefined, { signal: lease.lost }).catch(() => {})
    lease.throwIfLost()
    try {
      return await call()
    } catch (error) {
      throwUnlessRetryable(error, lease)
    }
  }
}

function throwUnlessRetryable(error: unknown, lease: Lease): void {
  if (!EngineError.is(error)) throw error
  if (lostCodes.includes(error.code)) lease.lose(error)
  if (!error.retryable) throw error
}
