// FlowFabric's worker as users run it: a task of three steps, and one without any.
import { setTimeout } from 'node:timers/promises'
import { connect, task } from '../../../src/index.ts'
import { request } from './flowfabric.ts'
import type { Payload } from './payload.ts'
import type { Handle, Peer, Worker } from './contract.ts'
import { concurrency, stepNames, stepResult } from './steps.ts'
import { bySets } from '../../../src/model/sets.ts'

export const flowfabricSteps: Peer = peerOf(true, concurrency)
export const flowfabricWorker: Peer = peerOf(false, 100)

function peerOf(hasSteps: boolean, most: number): Peer {
  return {
    async open(url) {
      const ff = await connect(url)
      return {
        create: (payload) => ff.engine.executions.create(request(payload)),
        createMany: (payloads) => bySets(payloads.map(request), (set) => ff.engine.executions.createMany(set)),
        close: () => ff.close(),
      }
    },
    startWorker: (url, handle) => startWorker(url, handle, hasSteps, most),
  }
}

async function startWorker(url: string, handle: Handle, hasSteps: boolean, most: number): Promise<Worker> {
  const ff = await connect(url)
  const sendEmail = task('send-email', async (ctx, payload: Payload) => {
    handle(payload)
    if (!hasSteps) return
    for (const name of stepNames) await ctx.step(name, () => stepResult(payload, name))
  })
  const worker = ff.worker({ tasks: [sendEmail], concurrency: most })
  await worker.start()
  return {
    isDone: async () => worker.running === 0,
    async stop() {
      while (worker.running > 0) await setTimeout(1)
      await ff.close()
    },
  }
}
