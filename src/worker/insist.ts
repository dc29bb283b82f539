// A call that may succeed when it is sent again is sent again, less and less often, until its lease is lost; and a refusal that
// says so loses it.
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

export function insist<T>(call: () => Promise<T>, lease: Lease): Promise<T> {
  if (lease.isLost) return again(call, lease)
  // Nearly all go well at once, and need no promise more.
  return begun(call).catch((error: unknown) => {
    refuseLast(error, lease)
    return again(call, lease)
  })
}

/** What is thrown before there is a promise is a refusal like any other. */
function begun<T>(call: () => Promise<T>): Promise<T> {
  try {
    return call()
  } catch (error) {
    return Promise.reject(error)
  }
}

async function again<T>(call: () => Promise<T>, lease: Lease): Promise<T> {
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    lease.throwIfLost()
    await sleep(pauseMs, undefined, { signal: lease.lost }).catch(() => {})
    lease.throwIfLost()
    try {
      return await call()
    } catch (error) {
      refuseLast(error, lease)
    }
  }
}

function refuseLast(error: unknown, lease: Lease): void {
  if (!EngineError.is(error)) throw error
  if (lostCodes.includes(error.code)) lease.lose(error)
  if (!error.retryable) throw error
}
