// What a test leaves behind: timers that our code started, connections to its database.
import type pg from 'pg'

const ourCode = new URL('../../src/', import.meta.url).pathname
const running = new Map<NodeJS.Timeout, string>()

watchTimers()

/** Timers of ours that still run, as the places that started them. Each is told once. */
export function takeRunningTimers(): string[] {
  const places = [...running.values()]
  running.clear()
  return places.map((place) => `a timer, started ${place}`)
}

// Replaces the global functions of this process, once: files that share a worker share its timers as well.
function watchTimers(): void {
  const real = { setTimeout, setInterval, clearTimeout, clearInterval }

  function remember(timer: NodeJS.Timeout): NodeJS.Timeout {
    const place = new Error('here').stack?.split('\n').find((line) => line.includes(ourCode))
    if (place !== undefined) running.set(timer, place.trim())
    return timer
  }

  function watchedTimeout(work: (...args: unknown[]) => void, delayMs?: number, ...args: unknown[]): NodeJS.Timeout {
    const timer = real.setTimeout(() => {
      running.delete(timer)
      work(...args)
    }, delayMs)
    return remember(timer)
  }

  function forget(clear: (timer: NodeJS.Timeout) => void): (timer: NodeJS.Timeout) => void {
    return (timer) => {
      running.delete(timer)
      clear(timer)
    }
  }

  Object.assign(globalThis, {
    setTimeout: Object.assign(watchedTimeout, real.setTimeout),
    setInterval: (...args: Parameters<typeof setInterval>) => remember(real.setInterval(...args)),
    clearTimeout: forget(real.clearTimeout),
    clearInterval: forget(real.clearInterval),
  })
}

interface Other {
  readonly application_name: string
  readonly state: string
  readonly query: string
}

/** Connections to the same database, in words, after the server had time to see those end that were closed. */
export async function remainingConnections(client: pg.Client): Promise<string[]> {
  const giveUpAt = performance.now() + 2000
  while (true) {
    const { rows } = await client.query<Other>(
      `select application_name, state, query
       from pg_stat_activity
       where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`,
    )
    if (rows.length > 0 && performance.now() < giveUpAt) continue
    return rows.map((row) => `a connection of ${row.application_name}, ${row.state}, with ${row.query}`)
  }
}
