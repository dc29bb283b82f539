import { setTimeout } from 'node:timers/promises'
import type { connect } from '../../../src/index.ts'

export type FlowFabric = Awaited<ReturnType<typeof connect>>
type Tasks = Parameters<FlowFabric['worker']>[0]['tasks']

/** A worker that runs one task until its code has reached its end that many times. */
export class Runner {
  readonly #ff: FlowFabric
  readonly #concurrency: number
  #ended = 0

  constructor(ff: FlowFabric, concurrency: number) {
    this.#ff = ff
    this.#concurrency = concurrency
  }

  end(): void {
    this.#ended++
  }

  async run(task: Tasks[number], count: number): Promise<void> {
    this.#ended = 0
    const worker = this.#ff.worker({ tasks: [task], concurrency: this.#concurrency, handleSignals: false })
    await worker.start()
    while (this.#ended < count || worker.running > 0) await setTimeout(1)
    await worker.stop()
  }
}
