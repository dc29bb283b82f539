// Graphile Worker with its defaults, and as its page on performance runs it: jobs fetched five hundred at a time into a
// local queue, completions in batches, 24 jobs at once. A job that is done is deleted.
import { Logger, makeWorkerUtils, run } from 'graphile-worker'
import type { RunnerOptions } from 'graphile-worker'
import pg from 'pg'
import type { Payload } from '../src/peers/payload.ts'
import type { Peer } from '../src/peers/contract.ts'

const task = 'send-email'
const silent = new Logger(() => () => {})

type WorkerOptions = NonNullable<NonNullable<RunnerOptions['preset']>['worker']>

export const graphileWorker: Peer = peerOf({})

export const graphileWorkerTuned: Peer = peerOf({
  concurrentJobs: 24,
  maxPoolSize: 25,
  localQueue: { size: 500 },
  completeJobBatchDelay: 0,
  failJobBatchDelay: 0,
})

function peerOf(worker: WorkerOptions): Peer {
  return {
    async open(url) {
      const utils = await makeWorkerUtils({ connectionString: url, logger: silent })
      await utils.migrate()
      return {
        create: (payload) => utils.addJob(task, payload),
        createMany: (payloads) => utils.addJobs(payloads.map((payload) => ({ identifier: task, payload }))),
        close: async () => utils.release(),
      }
    },

    async startWorker(url, handle) {
      const preset = { worker: { ...worker, connectionString: url, logger: silent } }
      const taskList = { [task]: async (payload: unknown) => handle(payload as Payload) }
      const runner = await run({ preset, taskList, parsedCronItems: [], noHandleSignals: true })
      const client = new pg.Client({ connectionString: url })
      await client.connect()
      return {
        async isDone() {
          const { rows } = await client.query('select from graphile_worker._private_jobs limit 1')
          return rows.length === 0
        },
        async stop() {
          await runner.stop()
          await client.end()
        },
      }
    },
  }
}
