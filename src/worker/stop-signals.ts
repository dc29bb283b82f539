// SIGTERM and SIGINT: the worker stops, and then the process ends by the same signal, as it would have without a
// worker. In a process with several workers all of them stop, and the last one ends the process.
const signals = ['SIGTERM', 'SIGINT'] as const

// Shared by all workers of the process.
let stoppingCount = 0
let received: NodeJS.Signals | null = null

export class StopSignals {
  readonly #stop: (signal: NodeJS.Signals) => Promise<void>
  readonly #onSignal = (signal: NodeJS.Signals): void => {
    received = signal
    void this.#stop(signal)
  }
  #isListening = false

  constructor(stop: (signal: NodeJS.Signals) => Promise<void>) {
    this.#stop = stop
  }

  listen(): void {
    this.#isListening = true
    for (const signal of signals) process.once(signal, this.#onSignal)
  }

  /**
   * From here on a second signal ends the process at once. The first one ends it when no worker is stopping any more.
   */
  ignoreDuring(stop: () => Promise<void>): Promise<void> {
    if (!this.#isListening) return stop()
    for (const signal of signals) process.off(signal, this.#onSignal)
    stoppingCount += 1
    return stop().finally(() => {
      stoppingCount -= 1
      if (stoppingCount > 0 || received === null) return
      const signal = received
      received = null
      process.kill(process.pid, signal)
    })
  }
}
