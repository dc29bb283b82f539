// The queues that a claim may read: those of its namespaces, lanes, kinds and versions whose required capabilities it
// has. Queues are only ever added, and seldom, so the result is cached for a second; a queue that is new to this
// process invalidates it at once.
import type { Served } from '../../model/served.ts'
import type { Sql } from '../../sql/sql.ts'
import { statement, type RowOf, type ValuesOf } from '../../sql/statement.ts'
import { isServedSql } from './served.ts'

/** The fields that all executions of a queue share. */
export interface MatchedQueue {
  readonly namespace: string
  readonly lane: string
  readonly kind: string
  /** Null: any worker. */
  readonly version: string | null
}

export interface QueueFilter extends Served {
  /** Null: all of them. */
  readonly namespaces: readonly string[] | null
  readonly lanes: readonly string[]
}

export const queueRow = {
  queue_id: 'int4',
  namespace: 'text',
  lane_id: 'text',
  execution_kind: 'text',
  task_version: 'text',
} as const

const filterParams = {
  namespaces: 'text[]',
  any_namespace: 'bool',
  lanes: 'text[]',
  kinds: 'text[]',
  any_kind: 'bool',
  versions: 'text[]',
  capabilities: 'text[]',
} as const

const matches = `($2 or q.namespace = any ($1::text[]))
  and q.lane_id = any ($3::text[])
  and ${isServedSql({ anyKind: '$5', kinds: '$4::text[]', versions: '$6::text[]', capabilities: '$7::text[]' })}`

// Paused, draining and disabled lanes are read too: no operation pauses a lane yet, and a claim does not decide it.
const matchStatement = statement({
  name: 'queue.match',
  params: filterParams,
  row: queueRow,
  text: `
select q.queue_id, q.namespace, q.lane_id, q.execution_kind, q.task_version
from flowfabric.ff_queue q
where ${matches}
order by q.queue_id`,
})

// The periodic query of a waiting claim, in one statement: whether one of its queues has a row, and whether queues
// exist that it does not know.
const peekStatement = statement({
  name: 'queue.peek',
  params: { ...filterParams, queue_ids: 'int4[]' },
  row: { has_ready: 'bool', queue_count: 'int8' },
  text: `
select exists (
    select
    from unnest($8::int4[]) as k (queue_id)
    cross join lateral (
      select
      from flowfabric.ff_ready r
      where r.queue_id = k.queue_id
      limit 1
    ) ready) as has_ready,
  (select count(*) from flowfabric.ff_queue q where ${matches}) as queue_count`,
})

const rememberedMs = 1000
const forgottenMs = 60_000

interface RememberedQueue {
  readonly queues: ReadonlyMap<number, MatchedQueue>
  at: number
}

export class QueueMatcher {
  readonly #sql: Sql
  /** By filter. */
  readonly #remembered = new Map<string, RememberedQueue>()
  readonly #announced = new Set<number>()
  /** Counts the changes that earlier queries cannot have seen. */
  #changeCount = 0

  constructor(sql: Sql) {
    this.#sql = sql
  }

  /** By queue id. A cached result is returned at once; if it is old, it is refreshed for the next call. */
  async match(filter: QueueFilter): Promise<ReadonlyMap<number, MatchedQueue>> {
    const known = this.#remembered.get(keyOf(filter))
    if (known === undefined) return this.#query(filter)
    if (performance.now() - known.at >= rememberedMs) {
      known.at = performance.now()
      this.#query(filter).catch(() => {})
    }
    return known.queues
  }

  /** Whether queues exist besides the known ones: another process may have created them. */
  async hasOthers(filter: QueueFilter, known: ReadonlyMap<number, MatchedQueue>): Promise<boolean> {
    const queues = await this.#query(filter)
    return queues.size > known.size
  }

  /** Whether a claim may find something: a row in a known queue, or an unknown queue. */
  async mayFind(filter: QueueFilter): Promise<boolean> {
    const known = this.#remembered.get(keyOf(filter))
    if (known === undefined) return true
    const at = performance.now()
    const queueIds = [...known.queues.keys()]
    const [found] = await this.#sql.query(peekStatement, { ...valuesOf(filter), queue_ids: queueIds })
    if (found!.queue_count !== queueIds.length) return true
    known.at = Math.max(known.at, at)
    return found!.has_ready
  }

  async #query(filter: QueueFilter): Promise<ReadonlyMap<number, MatchedQueue>> {
    const at = performance.now()
    const changesBefore = this.#changeCount
    const rows = await this.#sql.query(matchStatement, valuesOf(filter))
    const queues = new Map(rows.map((row) => [row.queue_id, decodeQueue(row)]))
    if (changesBefore === this.#changeCount) this.#remember(keyOf(filter), { queues, at })
    return queues
  }

  // Callers choose the filters, so those that have not been used for long are dropped.
  #remember(filter: string, found: RememberedQueue): void {
    for (const [other, { at }] of this.#remembered) {
      if (found.at - at >= forgottenMs) this.#remembered.delete(other)
    }
    this.#remembered.set(filter, found)
  }

  /**
   * A hint named a queue, or this process created it; null: any queue. A queue exists before its first hint and never
   * changes, so a result that is read after that hint stays valid.
   */
  invalidate(queueId: number | null): void {
    if (queueId !== null && this.#announced.has(queueId)) return
    this.#changeCount += 1
    if (queueId === null) return this.#remembered.clear()
    this.#announced.add(queueId)
    for (const [key, { queues }] of this.#remembered) {
      if (!queues.has(queueId)) this.#remembered.delete(key)
    }
  }

  /** Whether a claim with this filter may read the queue, as far as this process knows. */
  mayMatch(filter: QueueFilter, queueId: number): boolean {
    return this.#remembered.get(keyOf(filter))?.queues.has(queueId) ?? true
  }
}

export function decodeQueue(row: RowOf<typeof queueRow>): MatchedQueue {
  return {
    namespace: row.namespace,
    lane: row.lane_id,
    kind: row.execution_kind,
    version: row.task_version === '' ? null : row.task_version,
  }
}

function valuesOf(filter: QueueFilter): ValuesOf<typeof filterParams> {
  return {
    namespaces: filter.namespaces ?? [],
    any_namespace: filter.namespaces === null,
    lanes: filter.lanes,
    kinds: filter.kinds ?? [],
    any_kind: filter.kinds === null,
    versions: filter.versions,
    capabilities: filter.capabilities,
  }
}

const keys = new WeakMap<QueueFilter, string>()

function keyOf(filter: QueueFilter): string {
  const known = keys.get(filter)
  if (known !== undefined) return known
  const key = JSON.stringify(filter)
  keys.set(filter, key)
  return key
}
