// Sends calls again after a failure: those that are safe to repeat, and those that were certainly not performed. The
// pauses grow until the time is over. Any other failure is thrown at once: only the caller knows whether to repeat the
// call.
import { setTimeout as sleep } from 'node:timers/promises'
import { EngineError, type ErrorCode } from '../model/errors.ts'
import { LostConnection } from './lost-connection.ts'

export interface Patience {
  /** A repetition has no effect beyond that of the first send. */
  readonly isRepeatable: boolean
  readonly patienceMs: number
  readonly signal?: AbortSignal | undefined
}

/** A refusal with a time to wait. */
export class Later extends Error {
  readonly refusal: EngineError
  readonly afterMs: number

  constructor(refusal: EngineError, afterMs: number) {
    super(refusal.message)
    this.refusal = refusal
    this.afterMs = afterMs
  }
}

const firstPauseMs = 50
const longestPauseMs = 2000

/** `isAgain`: an earlier send may have been performed. */
export async function untilAnswered<T>(
  { isRepeatable, patienceMs, signal }: Patience,
  send: (isAgain: boolean) => Promise<T>,
): Promise<T> {
  const until = performance.now() + patienceMs
  let isAgain = false
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    try {
      return await send(isAgain)
    } catch (error) {
      const refusal = refusalOf(error)
      const isUndone = (error instanceof LostConnection && error.isUnsent) || undone.includes(refusal.code)
      const mayRepeat = isUndone || (isRepeatable && lost.includes(refusal.code))
      const pause = Math.max(pauseMs * (0.5 + Math.random() / 2), error instanceof Later ? error.afterMs : 0)
      if (!mayRepeat || performance.now() + pause > until) throw refusal
      isAgain ||= !isUndone
      // The signal's reason is the error to throw; the sleep only reports that it was aborted.
      await sleep(pause, undefined, { signal }).catch(() => signal!.throwIfAborted())
    }
  }
}

/** Refused before anything was done. */
const undone: readonly ErrorCode[] = ['server_stopping', 'rate_limited', 'concurrency_limited']
const lost: readonly ErrorCode[] = ['server_unreachable', 'database_unreachable']

function refusalOf(error: unknown): EngineError {
  if (error instanceof Later) return error.refusal
  if (EngineError.is(error)) return error
  if (!(error instanceof LostConnection)) throw error
  const sentence = error.isUnsent
    ? `cannot reach the server${error.origin === null ? '' : ` at ${error.origin}`}: ${error.message}; check the URL, and that the server is running`
    : `the connection to the server was lost before it answered, so the request may have been done: ${error.message}`
  return new EngineError('server_unreachable', sentence, {}, { cause: error })
}
