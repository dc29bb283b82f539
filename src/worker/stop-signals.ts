// SIGTERM and SIGINT: the worker stops, and the process ends by the same signal afterwards, as it would have without us. Where a
// process has several workers, all of them hear it, and the last that has stopped ends the process.
const signals = ['SIGTERM', 'SIGINT'] as const

// Of all workers in the process.
let stoppingCount = 0
let heard: NodeJS.Signals | null = null

export class StopSignals {
  readonly #stop: (signal: NodeJS.Signals) => Promise<void>
  readonly #onSignal = (signal: NodeJS.Signals): void => {
    heard = signal
    void this.#stop(signal)
  }
  #isHeeding = false

  constructor(stop: (signal: NodeJS.Signals) => Promise<void>) {
    this.#stop = stop
  }

  heed(): void {
    this.#isHeeding = true
    for (const signal of signals) process.once(signal, this.#onSignal)
  }

  /** From here on a signal ends the process at once; one that was heard ends it when no worker is stopping any more. */
  ignoreDuring(stop: () => Promise<void>): Promise<void> {
    if (!this.#isHeeding) return stop()
    for (const signal of signals) process.off(signal, this.#onSignal)
    stoppingCount += 1
    return stop().finally(() => {
      stoppingCount -= 1
      if (stoppingCount > 0 || heard === null) return
      const signal = heard
      heard = null
      process.kill(process.pid, signal)
    })
  }
}
