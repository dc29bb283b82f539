// OpenWorkflow: three steps, with as many runs at a time as the others. It claims one run a statement, and has no setting for
// its poll.
import { OpenWorkflow } from 'openworkflow'
import { BackendPostgres } from 'openworkflow/postgres'
import pg from 'pg'
import type { Payload } from '../src/peers/payload.ts'
import type { Handle, Peer } from '../src/peers/contract.ts'
import { concurrency, stepNames, stepResult } from '../src/peers/steps.ts'

let handler: Handle = () => {}

async function enter(url: string) {
  const backend = await BackendPostgres.connect(url)
  const client = new OpenWorkflow({ backend })
  const workflow = client.defineWorkflow<Payload, void>({ name: 'send-email' }, async ({ input, step }) => {
    handler(input)
    for (const name of stepNames) await step.run({ name }, () => stepResult(input, name))
  })
  return { backend, client, workflow }
}

export const openWorkflowSteps: Peer = {
  async open(url) {
    const { backend, workflow } = await enter(url)
    return {
      create: (payload) => workflow.run(payload),
      createMany: (payloads) => Promise.all(payloads.map((payload) => workflow.run(payload))),
      close: () => backend.stop(),
    }
  },

  async startWorker(url, handle) {
    handler = handle
    const { backend, client } = await enter(url)
    const worker = client.newWorker({ concurrency })
    await worker.start()
    const watcher = new pg.Client({ connectionString: url })
    await watcher.connect()
    return {
      async isDone() {
        const { rows } = await watcher.query(
          `select from openworkflow.workflow_runs where status not in ('completed', 'succeeded') limit 1`,
        )
        return rows.length === 0
      },
      async stop() {
        await worker.stop()
        await watcher.end()
        await backend.stop()
      },
    }
  },
}
