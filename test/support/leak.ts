// Leaks of a test: timers that our code started, and connections to its database.
import { createHook } from 'node:async_hooks'
import { setImmediate } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type pg from 'pg'
import { patience } from './patience.ts'

const ourCode = new URL('../../src/', import.meta.url)
// A stack names files by path, or by URL with its spaces encoded.
const places = [ourCode.pathname, fileURLToPath(ourCode)]
const running = new Map<number, string>()

// Watches every timer of this process, whichever module started it: ours come from node:timers/promises. One hook for
// the whole process, because files that share a worker share its timers.
createHook({
  init(id, type) {
    if (type !== 'Timeout') return
    const lines = new Error('here').stack?.split('\n') ?? []
    // A pool has timers for idle connections and drops them when it is closed. Connections have a check of their own.
    if (lines.some((line) => line.includes('/pg-pool/'))) return
    const place = lines.find((line) => places.some((one) => line.includes(one)))
    if (place !== undefined) running.set(id, place.trim())
  },
  destroy(id) {
    running.delete(id)
  },
}).enable()

/** The places that started our timers which still run. Each is returned once. */
export async function takeRunningTimers(): Promise<string[]> {
  // Node reports the end of a timer one turn later.
  await setImmediate()
  const left = [...running.values()]
  running.clear()
  return left.map((place) => `a timer, started ${place}`)
}

interface Other {
  readonly application_name: string
  readonly state: string
  readonly query: string
}

/**
 * Connections to the same database, as sentences, after the server had time to remove closed ones. Idle connections of
 * the named pool may stay.
 */
export async function remainingConnections(client: pg.Client, poolName: string | null = null): Promise<string[]> {
  const giveUpAt = performance.now() + patience(2000)
  while (true) {
    const { rows } = await client.query<Other>(
      `select application_name, state, query
       from pg_stat_activity
       where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()
         and (application_name is distinct from $1 or state is distinct from 'idle')`,
      [poolName],
    )
    if (rows.length > 0 && performance.now() < giveUpAt) continue
    return rows.map((row) => `a connection of ${row.application_name}, ${row.state}, with ${row.query}`)
  }
}
