// Races without sleeping: one connection holds a lock, others are seen to wait for it, then it lets go.
import { randomInt } from 'node:crypto'
import pg from 'pg'
import { onTestFinished } from 'vitest'

export interface Hold {
  /** Resolves when so many connections wait for this lock, be it behind each other. */
  waiters(count: number, timeoutMs?: number): Promise<void>
  /** Ends the transaction and with it the lock. */
  release(): Promise<void>
}

/** Takes locks on a connection of its own and keeps them: `hold(url, 'select ... for update')`. */
export async function hold(url: string, text: string, values: readonly unknown[] = []): Promise<Hold> {
  const client = new pg.Client({ connectionString: url, application_name: 'test hold' })
  await client.connect()
  const release = once(() => client.end())
  onTestFinished(release)
  await client.query('begin')
  await client.query(text, [...values])
  return {
    waiters: (count, timeoutMs = 10_000) => seeWaiters(client, count, timeoutMs),
    release,
  }
}

export interface Barrier {
  /** The statement that waits: run it first in each of the transactions that shall go on together. */
  readonly gate: string
  /** Waits until `count` transactions stand at the gate, then lets them all go at once. */
  open(count: number, timeoutMs?: number): Promise<void>
}

export async function createBarrier(url: string): Promise<Barrier> {
  const key = randomInt(2 ** 40)
  const held = await hold(url, `select pg_advisory_xact_lock(${key})`)
  return {
    gate: `select pg_advisory_xact_lock_shared(${key})`,
    open: async (count, timeoutMs) => {
      await held.waiters(count, timeoutMs)
      await held.release()
    },
  }
}

// Who waits for a row may stand behind another waiter instead of the holder, hence the recursion. Locks are read
// afresh each time, unlike pg_stat_activity, which shows its first look until the transaction ends.
const waiting = `
  with recursive behind (pid) as (
    select pg_backend_pid()
    union
    select waiter.pid
    from behind
    join pg_locks as waiter on not waiter.granted and behind.pid = any (pg_blocking_pids(waiter.pid))
  )
  select count(*)::int - 1 as count
  from behind`

async function seeWaiters(client: pg.Client, count: number, timeoutMs: number): Promise<void> {
  const giveUpAt = performance.now() + timeoutMs
  let seen = 0
  while (performance.now() < giveUpAt) {
    const { rows } = await client.query<{ count: number }>(waiting)
    seen = rows[0]!.count
    if (seen >= count) return
  }
  throw new Error(`${count} connections were expected to wait for the lock; ${seen} did`)
}

function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined
  return () => (done ??= work())
}
