// Waits for executions to end. One loop queries for all of them in one statement: at once after a commit of this
// process that may have ended one, otherwise at growing intervals.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import { Bell } from '../kernel/bell.ts'

const firstPollMs = 10
const longestPollMs = 500
// Between two queries that commits of this process trigger.
const betweenWakesMs = 2
// How many one query covers.
const batch = 1000

const readEnded = statement({
  name: 'execution.ended',
  params: { execution_ids: 'uuid[]' },
  row: { execution_id: 'uuid' },
  text: `
select i.execution_id
from unnest($1::uuid[]) as i (execution_id)
left join flowfabric.ff_exec_core e on e.execution_id = any (array[i.execution_id])
where coalesce(e.lifecycle_phase, 'terminal') = 'terminal'`,
})

export class Endings {
  readonly #sql: Sql
  readonly #waiting = new Map<string, Set<() => void>>()
  readonly #bell = new Bell()
  #isLooping = false
  #isWoken = false

  constructor(sql: Sql) {
    this.#sql = sql
  }

  /** A commit of this process may have ended an execution. */
  wake(): void {
    this.#isWoken = true
    this.#bell.ring()
  }

  /** Resolves when it has ended, the time is over, or the signal aborts. */
  wait(uuid: string, waitMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', done)
        const others = this.#waiting.get(uuid)
        others?.delete(done)
        if (others?.size === 0) this.#waiting.delete(uuid)
        if (this.#waiting.size === 0) this.#bell.ring()
        resolve()
      }
      // A longer time is beyond the range of a timer.
      const timer = setTimeout(done, Math.min(waitMs, 2 ** 31 - 1))
      signal?.addEventListener('abort', done)
      const waiting = this.#waiting.get(uuid)
      if (waiting === undefined) this.#waiting.set(uuid, new Set([done]))
      else waiting.add(done)
      if (!this.#isLooping) void this.#loop()
    })
  }

  /** Waiting callers read once more, and receive the error that the engine is closed. */
  async close(): Promise<void> {
    for (const waiting of this.#waiting.values()) for (const done of waiting) done()
  }

  async #loop(): Promise<void> {
    this.#isLooping = true
    let pauseMs = firstPollMs
    while (this.#waiting.size > 0) {
      this.#isWoken = false
      await this.#query().catch(() => {})
      if (this.#waiting.size === 0) break
      await (this.#isWoken ? sleep(betweenWakesMs) : this.#bell.wait(undefined, pauseMs))
      pauseMs = Math.min(pauseMs * 2, longestPollMs)
      if (this.#isWoken) pauseMs = firstPollMs
    }
    this.#isLooping = false
  }

  // Another query follows a failed one; waiting callers read the result themselves, and receive its error.
  async #query(): Promise<void> {
    const uuids = [...this.#waiting.keys()]
    for (let from = 0; from < uuids.length; from += batch) {
      const rows = await this.#sql.query(readEnded, { execution_ids: uuids.slice(from, from + batch) })
      for (const { execution_id: uuid } of rows) for (const done of this.#waiting.get(uuid) ?? []) done()
    }
  }
}
