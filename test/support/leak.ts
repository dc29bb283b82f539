// What a test leaves behind: timers that our code started, connections to its database.
import pg from 'pg'

interface OpenTimer {
  readonly startedAt: string
}

const open = new Map<unknown, OpenTimer>()
const ourCode = new URL('../../src/', import.meta.url).pathname

watchTimers()

/** Timers of ours that are still running, as the places that started them. */
export function runningTimers(): string[] {
  return [...open.values()].map((timer) => timer.startedAt)
}

// Once in a process: files that share a worker share its timers as well.
function watchTimers(): void {
  const real = { setTimeout, setInterval, clearTimeout, clearInterval }
  const remember = (timer: unknown): void => {
    const startedAt = new Error('timer').stack?.split('\n').find((line) => line.includes(ourCode))
    if (startedAt !== undefined) open.set(timer, { startedAt: startedAt.trim() })
  }
  Object.assign(globalThis, {
    setTimeout: Object.assign((work: (...args: unknown[]) => void, delay?: number, ...args: unknown[]) => {
      const timer = real.setTimeout(() => {
        open.delete(timer)
        work(...args)
      }, delay)
      remember(timer)
      return timer
    }, real.setTimeout),
    setInterval: (...args: Parameters<typeof setInterval>) => {
      const timer = real.setInterval(...args)
      remember(timer)
      return timer
    },
    clearTimeout: (timer: NodeJS.Timeout) => {
      open.delete(timer)
      real.clearTimeout(timer)
    },
    clearInterval: (timer: NodeJS.Timeout) => {
      open.delete(timer)
      real.clearInterval(timer)
    },
  })
}

interface Connection {
  readonly application_name: string
  readonly state: string
  readonly query: string
}

/** Waits for the server to see the end of every connection to `database`, and answers those that stay. */
export async function remainingConnections(serverUrl: string, database: string): Promise<Connection[]> {
  const client = new pg.Client(serverUrl)
  await client.connect()
  try {
    const giveUpAt = performance.now() + 2000
    while (true) {
      const { rows } = await client.query<Connection>(
        'select application_name, state, query from pg_stat_activity where datname = $1',
        [database],
      )
      if (rows.length === 0 || performance.now() > giveUpAt) return rows
    }
  } finally {
    await client.end()
  }
}
