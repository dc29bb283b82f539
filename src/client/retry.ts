// What is sent again after a failure: what is safe to repeat, and what certainly was not done. Less and less often, until the
// patience is over. Everything else is told to the caller at once, who alone knows whether to ask again.
import { setTimeout as sleep } from 'node:timers/promises'
import { EngineError, type ErrorCode } from '../model/errors.ts'
import { LostConnection } from './lost-connection.ts'

export interface Patience {
  /** Sent again, it does nothing that the first has not done. */
  readonly isRepeatable: boolean
  readonly patienceMs: number
  readonly signal?: AbortSignal | undefined
}

/** A refusal that came with a time to wait. */
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

/** `isAgain` says that an earlier send may have been done. */
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
      // Whoever ends it says why; the sleep only says that it was ended.
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
