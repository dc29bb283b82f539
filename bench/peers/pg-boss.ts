// pg-boss with its defaults, and with what its documentation offers: as many connections as submitters, no supervision and
// no scheduling in this process, a table of the queue's own, a `db` of the caller's, which lets the statements be prepared;
// and to a worker, sets of jobs, fetched without a pause as long as they come full. A NOTIFY for each job makes its start
// sooner and the rest slower, so that is one more way to tune it.
import { createHash } from 'node:crypto'
import pg from 'pg'
import { PgBoss } from 'pg-boss'
import type { WorkOptions } from 'pg-boss'
import type { Payload } from '../src/peers/payload.ts'
import type { Handle, Peer, Submitter, Worker } from '../src/peers/contract.ts'

const queue = 'send-email'

export const pgBoss: Peer = {
  async open(url) {
    const boss = await startBoss(new PgBoss(url))
    await boss.createQueue(queue)
    return submitterOf(boss)
  },
  async startWorker(url, handle) {
    return work(await startBoss(new PgBoss(url)), url, {}, handle)
  },
}

export const pgBossTuned: Peer = tuned({ notify: false })

export const pgBossNotifying: Peer = tuned({ notify: true })

function tuned({ notify }: { readonly notify: boolean }): Peer {
  return {
    async open(url) {
      const pool = new pg.Pool({ connectionString: url, max: 16 })
      const db = { executeSql: (text: string, values?: unknown[]) => pool.query(prepared(text, values)) }
      const boss = await startBoss(new PgBoss({ db, supervise: false, schedule: false }))
      await boss.createQueue(queue, { partition: true, notify })
      return submitterOf(boss, () => pool.end())
    },
    async startWorker(url, handle) {
      const boss = new PgBoss({ connectionString: url, supervise: false, schedule: false, useListenNotify: notify })
      return work(
        await startBoss(boss),
        url,
        { batchSize: 500, localConcurrency: 2, burstWhenBatchFull: true, pollingIntervalSeconds: 0.5 },
        handle,
      )
    },
  }
}

async function startBoss(boss: PgBoss): Promise<PgBoss> {
  boss.on('error', (error) => {
    throw error
  })
  return boss.start()
}

function submitterOf(boss: PgBoss, closed: () => Promise<void> = async () => {}): Submitter {
  return {
    create: (payload) => boss.send(queue, payload),
    createMany: (payloads) =>
      boss.insert(
        queue,
        payloads.map((data) => ({ data })),
      ),
    async close() {
      await boss.stop({ graceful: false })
      await closed()
    },
  }
}

async function work(boss: PgBoss, url: string, options: WorkOptions, handle: Handle): Promise<Worker> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await boss.work<Payload>(queue, options, async (jobs) => {
    for (const job of jobs) handle(job.data)
  })
  return {
    async isDone() {
      const { rows } = await client.query(`select from pgboss.job where state < 'completed' limit 1`)
      return rows.length === 0
    },
    async stop() {
      await boss.stop()
      await client.end()
    },
  }
}

// Scripts of several statements carry no values, and cannot be prepared.
function prepared(text: string, values: unknown[] | undefined): pg.QueryConfig {
  if (values === undefined || values.length === 0) return { text }
  return { name: createHash('md5').update(text).digest('hex'), text, values }
}
