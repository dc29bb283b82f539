// The uses that a run has for the clock of its process. Everything else is decided by the database's clock.
export interface ProcessClock {
  /** A wait of up to this long between two tries of a step is spent in the process. */
  readonly longestPauseMs: number
  /** Calls `onLate` when the time has passed, unless the returned function is called before. */
  limit(ms: number, onLate: () => void): () => void
}

export const processClock: ProcessClock = {
  longestPauseMs: 5000,
  limit(ms, onLate) {
    // A longer timer would fire at once.
    const timer = setTimeout(onLate, Math.min(ms, 2 ** 31 - 1))
    return () => clearTimeout(timer)
  },
}
