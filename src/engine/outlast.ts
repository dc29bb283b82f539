// Waits outlast a short loss of the database, or of the server before it: a read is repeated, less and less often, until it is
// answered or the caller's time is over. A wait without a limit gives up after five minutes without an answer.
import { setTimeout as sleep } from 'node:timers/promises'
import { isOutage } from '../model/errors.ts'
import { asEngineError } from './failure.ts'

const firstPauseMs = 50
const longestPauseMs = 1000
const longestOutageMs = 300_000

export interface Outlast {
  /** On this process's monotonic clock; Infinity: the caller set no limit. */
  readonly until: number
  readonly signal?: AbortSignal | undefined
}

export async function outlast<T>({ until, signal }: Outlast, read: () => Promise<T>): Promise<T> {
  const giveUpAt = until === Infinity ? performance.now() + longestOutageMs : until
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    try {
      return await read()
    } catch (error) {
      const failure = asEngineError(error)
      // Half of it at random, so that those who wait do not come back at one moment.
      const pause = pauseMs * (0.5 + Math.random() / 2)
      if (!isOutage(failure) || performance.now() + pause > giveUpAt) throw failure
      await sleep(pause, undefined, { signal }).catch(() => signal!.throwIfAborted())
    }
  }
}
