// The upper bound of what Postgres drains: rows are taken in sets with skip locked and marked as done in sets, by
// prepared statements, one after the other; a single insert notifies a waiting worker. No lease, no attempt, no log.
import pg from 'pg'
import { Bell } from './bell.ts'
import { decodePayload, encodePayload } from './payload.ts'
import type { Peer } from './contract.ts'

const table = `
create table if not exists raw_queue (
  id uuid primary key default uuidv7(),
  state int2 not null default 0,
  payload bytea not null
);
create index if not exists raw_queue_waiting on raw_queue (id) where state = 0`

const insertAndRing = {
  name: 'insert-and-ring',
  text: `
with inserted as (insert into raw_queue (payload) values ($1))
select pg_notify('raw_queue', '')`,
}

const insertMany = {
  name: 'insert-many',
  text: 'insert into raw_queue (payload) select unnest($1::bytea[])',
}

const claim = {
  name: 'claim',
  text: `
update raw_queue
set state = 1
where id = any (array(select id from raw_queue where state = 0 order by id limit $1 for update skip locked))
returning id, payload`,
}

const complete = { name: 'complete', text: 'update raw_queue set state = 2 where id = any ($1::uuid[])' }

const setSize = 500
const pollMs = 500

export const rawQueue: Peer = {
  async open(url) {
    const pool = new pg.Pool({ connectionString: url })
    await pool.query(table)
    return {
      create: (payload) => pool.query({ ...insertAndRing, values: [encodePayload(payload)] }),
      createMany: (payloads) => pool.query({ ...insertMany, values: [payloads.map(encodePayload)] }),
      close: () => pool.end(),
    }
  },

  async startWorker(url, handle) {
    const pool = new pg.Pool({ connectionString: url })
    const bell = new Bell()
    const listener = new pg.Client({ connectionString: url })
    await listener.connect()
    listener.on('notification', () => bell.ring())
    await listener.query('listen raw_queue')
    const stopping = new AbortController()
    let heldCount = 0

    async function work(): Promise<void> {
      while (!stopping.signal.aborted) {
        const { rows } = await pool.query<{ id: string; payload: Buffer }>({ ...claim, values: [setSize] })
        heldCount = rows.length
        for (const { payload } of rows) handle(decodePayload(payload))
        if (rows.length === 0) await bell.wait(pollMs)
        else await pool.query({ ...complete, values: [rows.map(({ id }) => id)] })
        heldCount = 0
      }
    }

    const working = work()
    return {
      isDone: async () => heldCount === 0,
      async stop() {
        stopping.abort()
        bell.ring()
        await working
        await listener.end()
        await pool.end()
      },
    }
  },
}
