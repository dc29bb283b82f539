// A submitter and its workers, each in a process of its own, on a database of their own.
import { setTimeout } from 'node:timers/promises'
import { startChild } from '../child.ts'
import type { Child } from '../child.ts'
import type { PeerName } from '../peers/peer.ts'
import type { Bench } from '../scenario.ts'
import type { Database } from '../server.ts'
import type { Submitted } from './sending.ts'
import type { SubmitInput, SubmitOrder } from './submit.child.ts'
import type { WorkInput, WorkOrder, WorkReport } from './work.child.ts'

/** Few enough that the queue stays short, enough that the workers are not idle. */
const partSize = 20_000

export class Traffic {
  readonly #submitter: Child<Submitted, SubmitOrder>
  readonly #workers: readonly Child<WorkReport, WorkOrder>[]
  readonly #database: Database

  private constructor(
    database: Database,
    submitter: Child<Submitted, SubmitOrder>,
    workers: readonly Child<WorkReport, WorkOrder>[],
  ) {
    this.#database = database
    this.#submitter = submitter
    this.#workers = workers
  }

  static async open({ stores, node }: Bench, peer: PeerName, workerCount = 1): Promise<Traffic> {
    const database = await stores.createDatabase(peer)
    const input: SubmitInput & WorkInput = { peer, url: database.url }
    // The submitter first: it creates the tables.
    const submitter = await startChild<Submitted, SubmitOrder>(
      node,
      new URL('./submit.child.ts', import.meta.url),
      input,
    )
    const startWorker = () =>
      startChild<WorkReport, WorkOrder>(node, new URL('./work.child.ts', import.meta.url), input)
    const workers = await Promise.all(Array.from({ length: workerCount }, startWorker))
    return new Traffic(database, submitter, workers)
  }

  get url(): string {
    return this.#database.url
  }

  submit(order: SubmitOrder): Promise<Submitted> {
    return this.#submitter.tell(order)
  }

  async start(): Promise<void> {
    await this.#tellAll('start')
  }

  async stop(): Promise<void> {
    await this.#tellAll('stop')
  }

  /** Starts the workers, submits that many in parts, and stops when all are handled. */
  async passThrough(count: number): Promise<void> {
    await this.start()
    for (let sent = 0; sent < count;) {
      const length = Math.min(partSize, count - sent)
      await this.submit({ act: 'load', count: length })
      sent += length
      await this.untilHandled(sent)
    }
    await this.stop()
  }

  /** Milliseconds from the submission of one, on idle processes, to its handler. */
  async ping(): Promise<number> {
    const answer = this.#workers[0]!.tell('next')
    const [[sequence, submittedAt]] = (await this.submit({ act: 'one' })) as [[number, number]]
    const [handled] = (await answer).handled
    if (handled?.[0] === sequence) return handled[1] - submittedAt
    throw new Error(`${sequence} was submitted and ${handled?.[0]} was handled`)
  }

  async untilHandled(count: number): Promise<void> {
    for (;;) {
      const reports = await this.#tellAll('count')
      const handledCount = reports.reduce((sum, report) => sum + report.handledCount, 0)
      if (handledCount === count) return
      if (handledCount > count) throw new Error(`${handledCount} were handled; ${count} were submitted`)
      await setTimeout(50)
    }
  }

  /** The work of each worker since its start, as soon as it is `count` in all. */
  async handled(count: number): Promise<WorkReport[]> {
    await this.untilHandled(count)
    return this.#tellAll('list')
  }

  /** Of the first worker. */
  async residentBytes(): Promise<number> {
    return (await this.#workers[0]!.tell('count')).residentBytes
  }

  async close(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.end()))
    await this.#submitter.end()
    await this.#database.drop()
  }

  #tellAll(order: WorkOrder): Promise<WorkReport[]> {
    return Promise.all(this.#workers.map((worker) => worker.tell(order)))
  }
}
