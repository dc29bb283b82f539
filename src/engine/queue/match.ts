// Which queues a claim may read: those of its namespaces, lanes, kinds and versions whose required capabilities it has.
// Queues are only ever added, and seldom, so the answer is remembered for a second; a queue that this process has never
// met but was told of makes it look again at once.
import type { Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'

export interface QueueFilter {
  /** Null: all of them. */
  readonly namespaces: readonly string[] | null
  readonly lanes: readonly string[]
  readonly kinds: readonly string[] | null
  readonly versions: readonly string[]
  readonly capabilities: readonly string[]
}

// Paused, draining and disabled lanes are read too: nothing pauses a lane yet, and a claim does not decide it.
const matchStatement = statement({
  name: 'queue.match',
  params: {
    namespaces: 'text[]',
    any_namespace: 'bool',
    lanes: 'text[]',
    kinds: 'text[]',
    any_kind: 'bool',
    versions: 'text[]',
    capabilities: 'text[]',
  },
  row: { queue_id: 'int4' },
  text: `
select q.queue_id
from flowfabric.ff_queue q
where ($2 or q.namespace = any ($1::text[]))
  and q.lane_id = any ($3::text[])
  and ($5 or q.execution_kind = any ($4::text[]))
  and (q.task_version = '' or q.task_version = any ($6::text[]))
  and q.required_capabilities <@ $7::text[]
order by q.queue_id`,
})

const rememberedMs = 1000

interface Remembered {
  readonly queueIds: readonly number[]
  readonly at: number
}

export class QueueMatcher {
  readonly #sql: Sql
  readonly #remembered = new Map<string, Remembered>()

  constructor(sql: Sql) {
    this.#sql = sql
  }

  async match(filter: QueueFilter): Promise<readonly number[]> {
    const key = JSON.stringify(filter)
    const known = this.#remembered.get(key)
    if (known !== undefined && performance.now() - known.at < rememberedMs) return known.queueIds
    const at = performance.now()
    const rows = await this.#sql.query(matchStatement, {
      namespaces: filter.namespaces ?? [],
      any_namespace: filter.namespaces === null,
      lanes: filter.lanes,
      kinds: filter.kinds ?? [],
      any_kind: filter.kinds === null,
      versions: filter.versions,
      capabilities: filter.capabilities,
    })
    const queueIds = rows.map((row) => row.queue_id)
    this.#remembered.set(key, { queueIds, at })
    return queueIds
  }

  /** A queue was named by a hint, or made by this process; null: any may have been. */
  heardOf(queueId: number | null): void {
    if (queueId === null) return this.#remembered.clear()
    for (const [key, { queueIds }] of this.#remembered) {
      if (!queueIds.includes(queueId)) this.#remembered.delete(key)
    }
  }
}
