// Absurd: tasks without steps. Its schema is not in its npm package; BENCH_ABSURD_SQL names the file `sql/absurd.sql` of its
// repository, and without it Absurd is left out.
import { readFile } from 'node:fs/promises'
import { Absurd } from 'absurd-sdk'
import type { WorkerOptions } from 'absurd-sdk'
import pg from 'pg'
import type { Payload } from '../src/peers/payload.ts'
import type { Peer } from '../src/peers/contract.ts'
import { concurrency, stepNames, stepResult } from '../src/peers/steps.ts'

const queueName = 'email'
const taskName = 'send-email'

export const absurd: Peer = peerOf(10, {})

export const absurdTuned: Peer = peerOf(20, { concurrency: 100, pollInterval: 0.01 })

export const absurdSteps: Peer = peerOf(20, { concurrency, pollInterval: 0.01 }, true)

function peerOf(poolSize: number, options: WorkerOptions, hasSteps = false): Peer {
  const enter = (url: string) => {
    const pool = new pg.Pool({ connectionString: url, max: poolSize })
    return { pool, app: new Absurd({ db: pool, queueName }) }
  }

  return {
    async open(url) {
      const { pool, app } = enter(url)
      const { rows } = await pool.query(`select from pg_namespace where nspname = 'absurd'`)
      if (rows.length === 0) {
        await pool.query(await readFile(process.env['BENCH_ABSURD_SQL']!, 'utf8'))
        await app.createQueue()
      }
      const create = (payload: Payload) => app.spawn(taskName, payload, { queue: queueName })
      return {
        create,
        createMany: (payloads) => Promise.all(payloads.map(create)),
        async close() {
          await app.close()
          await pool.end()
        },
      }
    },

    async startWorker(url, handle) {
      const { pool, app } = enter(url)
      app.registerTask<Payload>({ name: taskName }, async (payload, ctx) => {
        handle(payload)
        if (!hasSteps) return
        for (const name of stepNames) await ctx.step(name, async () => stepResult(payload, name))
      })
      await app.startWorker(options)
      return {
        async isDone() {
          const { rows } = await pool.query(`select from absurd.t_${queueName} where state <> 'completed' limit 1`)
          return rows.length === 0
        },
        async stop() {
          await app.close()
          await pool.end()
        },
      }
    },
  }
}
