// BullMQ on a Redis that the benchmark starts: with the defaults of both, and with concurrency and finished jobs removed.
// Redis by default keeps no log of single writes, so that a crash loses the last minutes; the tuned one is as it is, too.
import { Queue, Worker as BullWorker } from 'bullmq'
import type { DefaultJobOptions } from 'bullmq'
import type { Payload } from '../src/peers/payload.ts'
import type { Peer } from '../src/peers/contract.ts'

const name = 'send-email'

export const bullmq: Peer = peerOf(1, {})

export const bullmqTuned: Peer = peerOf(100, { removeOnComplete: true })

function peerOf(concurrency: number, defaultJobOptions: DefaultJobOptions): Peer {
  const queueOf = (url: string) => new Queue<Payload>(name, { connection: { url }, defaultJobOptions })

  return {
    async open(url) {
      const queue = queueOf(url)
      await queue.waitUntilReady()
      return {
        create: (payload) => queue.add(name, payload),
        createMany: (payloads) => queue.addBulk(payloads.map((data) => ({ name, data }))),
        close: () => queue.close(),
      }
    },

    async startWorker(url, handle) {
      const queue = queueOf(url)
      const connection = { url, maxRetriesPerRequest: null }
      const worker = new BullWorker<Payload>(name, async (job) => handle(job.data), { connection, concurrency })
      worker.on('error', (error) => {
        throw error
      })
      await worker.waitUntilReady()
      return {
        isDone: async () => (await queue.getJobCountByTypes('waiting', 'active')) === 0,
        async stop() {
          await worker.close()
          await queue.close()
        },
      }
    },
  }
}
