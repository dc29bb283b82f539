// What a run uses of its process's own clock. Everything else is decided by the database's.
export interface ProcessClock {
  /** A wait of up to this long between two tries of a step is spent in the process. */
  readonly longestPauseMs: number
  /** Calls when so much time has passed, unless what it gives is called before. */
  limit(ms: number, onLate: () => void): () => void
}

export const processClock: ProcessClock = {
  longestPauseMs: 5000,
  limit(ms, onLate) {
    // A timer that is set for longer goes off at once.
    const timer = setTimeout(onLate, Math.min(ms, 2 ** 31 - 1))
    return () => clearTimeout(timer)
  },
}
