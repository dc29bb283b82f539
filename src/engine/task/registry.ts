// A cache of the registered tasks. A create whose kind was read less than a second ago does not query the database. So
// a registration applies in every process at most a second after its commit, and at once in its own process.
import { setImmediate } from 'node:timers/promises'
import type { TaskPolicy } from '../../model/task-policy.ts'
import type { Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import { engineClosed } from '../kernel/closing.ts'
import type { CheckedExecution, NewExecution } from '../transition/new-execution.ts'
import type { Queue } from '../queue/intern.ts'
import { untilSent } from '../kernel/resend.ts'
import { decodeRegistered, joinRegistered, registeredColumns, registeredRow } from './registered.ts'
import { resolveWith } from './resolve.ts'

/** How long a process uses a cached task. */
export const staleAfterMs = 1000
const mostKnown = 10_000

const read = statement({
  name: 'task.read',
  params: { namespaces: 'text[]', kinds: 'text[]', versions: 'text[]' },
  row: { ordinal: 'int8', ...registeredRow },
  text: `
select i.ordinal, ${registeredColumns}
from unnest($1::text[], $2::text[], $3::text[]) with ordinality as i (namespace, kind, version, ordinal)
${joinRegistered({ namespace: 'i.namespace', kind: 'i.kind', version: 'i.version' })}`,
})

interface KnownTask {
  readonly task: TaskPolicy | null
  readonly readAt: number
}

/** Kinds that are read by one statement. */
interface Batch {
  readonly queues: Map<string, Queue>
  readonly startedAt: number
  readonly tasks: Promise<ReadonlyMap<string, TaskPolicy | null>>
}

export class TaskRegistry {
  readonly #sql: Sql
  readonly #now: () => number
  #known = new Map<string, KnownTask>()
  /** The batch that still accepts kinds, until it is sent. */
  #open: Batch | null = null
  readonly #reading = new Set<Promise<unknown>>()
  #isClosed = false

  /** `now` is a monotonic clock of this process. */
  constructor(sql: Sql, now: () => number = () => performance.now()) {
    this.#sql = sql
    this.#now = now
  }

  /** Null: `resolve` has to read first. */
  resolveNow(item: CheckedExecution): NewExecution | null {
    if (this.#isClosed) throw engineClosed()
    const known = this.#known.get(keyOf(item.queue))
    if (known === undefined || this.#now() - known.readAt >= staleAfterMs) return null
    return resolveWith(item, known.task)
  }

  async resolve(item: CheckedExecution): Promise<NewExecution> {
    return this.resolveNow(item) ?? resolveWith(item, await this.#read(item.queue))
  }

  async resolveAll(items: readonly CheckedExecution[]): Promise<NewExecution[]> {
    return Promise.all(items.map((item) => this.resolve(item)))
  }

  /** This process has registered tasks. Cached tasks, and those being read, may be older. */
  forget(): void {
    this.#known = new Map()
    this.#open = null
  }

  /** Resolves when all reads under way have returned. */
  async close(): Promise<void> {
    this.#isClosed = true
    while (this.#reading.size > 0) {
      await Promise.allSettled(this.#reading)
      await setImmediate()
    }
  }

  async #read(queue: Queue): Promise<TaskPolicy | null> {
    const key = keyOf(queue)
    this.#open ??= this.#begin()
    const batch = this.#open
    batch.queues.set(key, queue)
    return (await batch.tasks).get(key) ?? null
  }

  #begin(): Batch {
    const queues = new Map<string, Queue>()
    // Calls of the same turn share a batch.
    const tasks = Promise.resolve().then(() => {
      if (this.#open === batch) this.#open = null
      return this.#readAll(queues, batch.startedAt)
    })
    const batch: Batch = { queues, startedAt: this.#now(), tasks }
    const forget = (): void => void this.#reading.delete(tasks)
    this.#reading.add(tasks)
    tasks.then(forget, forget)
    return batch
  }

  async #readAll(queues: ReadonlyMap<string, Queue>, readAt: number) {
    const known = this.#known
    const asked = [...queues.values()]
    const rows = await untilSent(this.#sql, { again: false }, () =>
      this.#sql.query(read, {
        namespaces: asked.map((queue) => queue.namespace),
        kinds: asked.map((queue) => queue.kind),
        versions: asked.map((queue) => queue.version ?? ''),
      }),
    )
    const tasks = new Map<string, TaskPolicy | null>()
    const keys = [...queues.keys()]
    for (const row of rows) tasks.set(keys[row.ordinal - 1]!, decodeRegistered(row))
    if (known === this.#known) this.#keep(tasks, readAt)
    return tasks
  }

  #keep(tasks: ReadonlyMap<string, TaskPolicy | null>, readAt: number): void {
    if (this.#known.size + tasks.size > mostKnown) this.#known.clear()
    for (const [key, task] of tasks) this.#known.set(key, { task, readAt })
  }
}

// No part can contain a NUL.
function keyOf({ namespace, kind, version }: Queue): string {
  return `${namespace}\0${kind}\0${version ?? ''}`
}
