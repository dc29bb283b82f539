// Waits survive a short loss of the database, or of the server in front of it: a read is repeated with growing pauses,
// until it succeeds or the caller's time is over. A wait without a limit gives up after five minutes without a reply.
import { isOutage } from './errors.ts'

const firstPauseMs = 50
const longestPauseMs = 1000
const longestOutageMs = 300_000

/** The clock of the waiting process, in milliseconds. */
export interface Time {
  now(): number
  /** Ends early, without an error, when the signal aborts. */
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
      // Half of the pause is random, so that waiting callers do not return at the same moment.
      const pause = pauseMs * (0.5 + Math.random() / 2)
      if (!isOutage(error) || time.now() + pause > giveUpAt) throw error
      await time.sleep(pause, signal)
      signal?.throwIfAborted()
    }
  }
}
