// pg-boss with its defaults, and with what its documentation offers to one who only submits: as many connections as
// submitters, no supervision and no scheduling in this process, a table of the queue's own, and a `db` of the caller's,
// which lets the statements be prepared.
import { createHash } from 'node:crypto'
import pg from 'pg'
import { PgBoss } from 'pg-boss'
import type { Peer, Submitter } from './peer.ts'

const queue = 'send-email'

export const pgBoss: Peer = {
  async open(url) {
    const boss = new PgBoss(url)
    await boss.start()
    await boss.createQueue(queue)
    return submitterOf(boss)
  },
}

export const pgBossTuned: Peer = {
  async open(url) {
    const pool = new pg.Pool({ connectionString: url, max: 16 })
    const db = { executeSql: (text: string, values?: unknown[]) => pool.query(prepared(text, values)) }
    const boss = new PgBoss({ db, supervise: false, schedule: false })
    await boss.start()
    await boss.createQueue(queue, { partition: true })
    return submitterOf(boss, () => pool.end())
  },
}

function submitterOf(boss: PgBoss, closed: () => Promise<void> = async () => {}): Submitter {
  boss.on('error', (error) => {
    throw error
  })
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

// Scripts of several statements carry no values, and cannot be prepared.
function prepared(text: string, values: unknown[] | undefined): pg.QueryConfig {
  if (values === undefined || values.length === 0) return { text }
  return { name: createHash('md5').update(text).digest('hex'), text, values }
}
