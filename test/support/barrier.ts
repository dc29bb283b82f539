// Races without sleeping: one connection holds a lock, others are seen to wait for it, then it lets go.
import { randomInt } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import pg from 'pg'
import { onTestFinished } from 'vitest'
import { patience } from './patience.ts'

export interface Hold {
  /** Resolves when so many connections wait for this lock, be it behind each other. */
  waiters(count: number, timeoutMs?: number): Promise<void>
  /** Undoes the transaction and with it the lock; so does the end of the test. */
  release(): Promise<void>
}

/** Takes locks on a connection of its own and keeps them: `hold(url, 'select ... for update')`. */
export async function hold(url: string, text: string, values: readonly unknown[] = []): Promise<Hold> {
  const client = idle.get(url)?.pop() ?? (await connect(url))
  await client.query('begin')
  await client.query(text, [...values])
  return {
    waiters: (count, timeoutMs = patience(25_000)) => seeWaiters(client, count, timeoutMs),
    release: once(() => letGo(url, client)),
  }
}

// A race meets fifty times, and each session of its own would plan the look for waiters anew. They end with their test.
const idle = new Map<string, pg.Client[]>()

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: 'test hold' })
  await client.connect()
  onTestFinished(() => {
    idle.delete(url)
    return client.end()
  })
  return client
}

async function letGo(url: string, client: pg.Client): Promise<void> {
  const isThere = await client.query('rollback').then(
    () => true,
    () => false, // whoever cut it off has undone it
  )
  if (isThere) idle.set(url, [...(idle.get(url) ?? []), client])
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
    // To look without a pause would take a core from those who are on their way.
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
