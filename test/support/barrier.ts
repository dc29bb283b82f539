// Races without sleeping: one connection holds a lock, the test sees that others wait for it, and then releases it.
import { randomInt } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import pg from 'pg'
import { onTestFinished } from 'vitest'
import { patience } from './patience.ts'

export interface Hold {
  /** Resolves when so many connections wait for this lock, also behind each other. */
  waiters(count: number, timeoutMs?: number): Promise<void>
  /** Rolls the transaction back and so releases the lock; the end of the test does the same. */
  release(): Promise<void>
}

/** Takes locks on a connection of its own and keeps them: `hold(url, 'select ... for update')`. */
export async function hold(url: string, text: string, values: readonly unknown[] = []): Promise<Hold> {
  const client = idle.get(url)?.pop() ?? (await connect(url))
  await client.query('begin')
  await client.query(text, [...values])
  return {
    waiters: (count, timeoutMs = patience(25_000)) => seeWaiters(client, count, timeoutMs),
    release: once(() => putBack(url, client)),
  }
}

// A race runs fifty times, and each new session would plan the query for waiters again. The sessions end with their
// test.
const idle = new Map<string, pg.Client[]>()

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: 'test hold' })
  // A test may cut off all connections; `letGo` expects it.
  client.on('error', () => {})
  await client.connect()
  onTestFinished(() => {
    idle.delete(url)
    return client.end()
  })
  return client
}

async function putBack(url: string, client: pg.Client): Promise<void> {
  const isConnected = await client.query('rollback').then(
    () => true,
    () => false, // the process that cut it off has ended its transaction
  )
  if (isConnected) idle.set(url, [...(idle.get(url) ?? []), client])
}

export interface Barrier {
  /** The statement that waits: run it first in each of the transactions that start together. */
  readonly gate: string
  /** Waits until `count` transactions wait at the gate, then lets them all continue at once. */
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

// A transaction that waits for a row may wait behind another waiter instead of the holder, hence the recursion. Each
// query reads the locks afresh. It does not use pg_stat_activity, which repeats its first snapshot until the
// transaction ends.
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
    // Polling without a pause would take a core from the connections that are on their way.
    await setTimeout(1)
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
