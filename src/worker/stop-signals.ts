// SIGTERM and SIGINT: the worker stops, and the process ends by the same signal afterwards, as it would have without us.
const signals = ['SIGTERM', 'SIGINT'] as const

export class StopSignals {
  readonly #stop: (signal: NodeJS.Signals) => Promise<void>
  readonly #onSignal = (signal: NodeJS.Signals): void => {
    void this.#stop(signal).finally(() => process.kill(process.pid, signal))
  }

  constructor(stop: (signal: NodeJS.Signals) => Promise<void>) {
    this.#stop = stop
  }

  heed(): void {
    for (const signal of signals) process.once(signal, this.#onSignal)
  }

  ignore(): void {
    for (const signal of signals) process.off(signal, this.#onSignal)
  }
}
