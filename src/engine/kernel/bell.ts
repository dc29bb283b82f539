// A longer timer fires at once.
const longestTimerMs = 2 ** 31 - 1

/** What loops wait for: a ring, a time, or the end. */
export class Bell {
  readonly #waiting = new Set<() => void>()

  ring(): void {
    for (const done of this.#waiting) done()
  }

  /** Resolves at the next ring, after `timeoutMs` where one is given, or 24 days; or when the signal aborts. */
  wait(signal?: AbortSignal, timeoutMs?: number): Promise<void> {
    if (signal?.aborted === true) return Promise.resolve()
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer)
        this.#waiting.delete(done)
        signal?.removeEventListener('abort', done)
        resolve()
      }
      const timer = timeoutMs === undefined ? undefined : setTimeout(done, Math.min(timeoutMs, longestTimerMs))
      this.#waiting.add(done)
      signal?.addEventListener('abort', done)
    })
  }
}
