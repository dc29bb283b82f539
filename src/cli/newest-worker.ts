// The worker of the newest tasks. Workers of older tasks finish their runs.
import type { FlowFabric } from '../connect/flowfabric.ts'
import type { Task } from '../worker/task.ts'
import type { Worker } from '../worker/worker.ts'
import type { LineLogger } from './logging.ts'

export class NewestWorker {
  readonly #ff: FlowFabric
  readonly #logger: LineLogger
  #current: Worker | null = null
  #leaving: Promise<void>[] = []

  constructor(ff: FlowFabric, logger: LineLogger) {
    this.#ff = ff
    this.#logger = logger
  }

  async run(tasks: readonly Task[]): Promise<void> {
    if (tasks.length === 0) return
    const quiet = { handleSignals: false, duties: false } as const
    const options = { name: 'dev', ...quiet, unawaited: 'fail', logger: this.#logger } as const
    const next = this.#ff.worker({ tasks, ...options })
    const before = this.#current
    await next.start()
    this.#current = next
    if (before !== null) this.#leaving.push(before.stop({ grace: '5s' }))
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#leaving, this.#current?.stop({ grace: '2s' })])
  }
}
