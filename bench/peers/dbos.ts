// DBOS Transact: workflows without steps on a queue, with its defaults, and with a short polling interval, as many workflows
// at once as keep its connections busy, and more connections. It submits one workflow a call.
import { DBOS, DBOSClient } from '@dbos-inc/dbos-sdk'
import type { DBOSConfig } from '@dbos-inc/dbos-sdk'
import pg from 'pg'
import type { Payload } from '../src/peers/payload.ts'
import type { Handle, Peer } from '../src/peers/contract.ts'
import { concurrency, stepNames, stepResult } from '../src/peers/steps.ts'

const queueName = 'email'
const plainName = 'send-email'

type QueueOptions = NonNullable<Parameters<typeof DBOS.registerQueue>[1]>

let handler: Handle = () => {}
DBOS.registerWorkflow(async (payload: Payload) => handler(payload), { name: plainName })

const stepsName = 'send-email-in-steps'
DBOS.registerWorkflow(
  async (payload: Payload) => {
    handler(payload)
    for (const name of stepNames) await DBOS.runStep(async () => stepResult(payload, name), { name })
  },
  { name: stepsName },
)

export const dbos: Peer = peerOf({}, {})

export const dbosTuned: Peer = peerOf(
  { systemDatabasePoolSize: 20 },
  { workerConcurrency: 200, minPollingIntervalMs: 5 },
)

export const dbosSteps: Peer = peerOf(
  { systemDatabasePoolSize: 20 },
  { workerConcurrency: concurrency, minPollingIntervalMs: 5 },
  stepsName,
)

function peerOf(config: Partial<DBOSConfig>, queue: QueueOptions, workflowName = plainName): Peer {
  async function launch(url: string): Promise<void> {
    DBOS.setConfig({ name: 'bench', systemDatabaseUrl: url, logLevel: 'error', runAdminServer: false, ...config })
    await DBOS.launch()
    await DBOS.registerQueue(queueName, queue)
  }

  return {
    async open(url) {
      // The tables are made by a launch.
      await launch(url)
      await DBOS.shutdown()
      const client = await DBOSClient.create({ systemDatabaseUrl: url, ...config })
      const create = (payload: Payload) => client.enqueue({ queueName, workflowName }, payload)
      return {
        create,
        createMany: (payloads) => Promise.all(payloads.map(create)),
        close: () => client.destroy(),
      }
    },

    async startWorker(url, handle) {
      handler = handle
      await launch(url)
      const client = new pg.Client({ connectionString: url })
      await client.connect()
      return {
        async isDone() {
          const { rows } = await client.query(`select from dbos.workflow_status where status <> 'SUCCESS' limit 1`)
          return rows.length === 0
        },
        async stop() {
          await DBOS.shutdown()
          await client.end()
        },
      }
    },
  }
}
