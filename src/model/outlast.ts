// Waits outlast a short loss of the database, or of the server before it: a read is repeated, less and less often, until it is
// answered or the caller's time is over. A wait without a limit gives up after five minutes without an answer.
import { isOutage } from './errors.ts'

const firstPauseMs = 50
const longestPauseMs = 1000
const longestOutageMs = 300_000

/** Of the process that waits, in milliseconds. */
export interface Time {
  now(): number
  /** Ends early, and quietly, when the signal aborts. */
  sleep(ms: number, signal: AbortSignal | undefined): Promise<void>
}

export interface Outlast {
  /** On the clock of the process; Infinity: the caller set no limit. */
  readonly until: number
  readonly signal?: AbortSignal | undefined
}

export async function outlastBy<T>(time: Time, { until, signal }: Outlast, read: () => Promise<T>): Promise<T> {
  const giveUpAt = until === Infinity ? time.now() + longestOutageMs : until
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    try {
      return await read()
    } catch (error) {
      // Half of it at random, so that those who wait do not come back at one moment.
      const pause = pauseMs * (0.5 + Math.random() / 2)
      if (!isOutage(error) || time.now() + pause > giveUpAt) throw error
      await time.sleep(pause, signal)
      signal?.throwIfAborted()
    }
  }
}
